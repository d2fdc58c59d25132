"""What simgap writes down: JSON records as in the command line's contract.

A number is a plain JSON number, infinity is the string "inf" (and "-inf"), a value that
is not a number is a defect and never written. A certified quantity is a pair of bounds.
Files are replaced whole: a reader sees the old content or the new, never a part.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from math import inf, isinf, isnan
from pathlib import Path
from typing import Any, Final, Literal, Protocol, final

from simgap.errors import InvalidFile, SimgapError
from simgap.text import clean_json
from simgap.user_files import read_text

SCHEMA = 1
LARGEST_RECORD = 256 * 2**20  # bytes; a record larger than this is not one of ours

Certainty = Literal["exact", "certified", "certified for this grid", "estimated"]
ON_GRID: Final = "certified for this grid"  # of the table, not of its simulator
_BARE = re.compile(
    r"(?<![\w./-])certified(?: (policy|bounds|loss|losses|numbers))?"
    r"(?! for this grid)(?![./-]?\w)"
)
_LEFT_ALONE = ("provenance", "origin", "next", "policy_file", "belief_policy_file")


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """What somebody else needs to get the same numbers again."""

    command: str
    model: str  # the text or path the model was named by
    model_hash: str
    seed: int | None
    simgap: str
    python: str
    numpy: str
    grid: str | None = None  # the simulator and the grid that the model is a table of


class Identified(Protocol):
    """What a record has to know of a class: `LatentMDP` has it."""

    @property
    def hash(self) -> str: ...

    @property
    def on_grid(self) -> str | None: ...


def provenance(
    *, command: str, model: str, latent: Identified | None, seed: int | None = None
) -> Provenance:
    """Return where a record comes from, with the versions of this installation."""
    from importlib.metadata import version
    from platform import python_version

    return Provenance(
        command=command,
        model=model,
        model_hash="" if latent is None else latent.hash,
        seed=seed,
        simgap=version("simgap"),
        python=python_version(),
        numpy=version("numpy"),
        grid=None if latent is None else latent.on_grid,
    )


def for_this_grid(value: Any) -> Any:
    """Return words and labels about a table on a grid: what is certified says so.

    A certificate of the table is none of the simulator behind it. Texts, and texts in
    lists, objects and records, are changed; where things come from is left alone.
    """
    if isinstance(value, str):
        return _BARE.sub(_of_grid, value)
    if isinstance(value, list | tuple):
        parts = [for_this_grid(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, Mapping):
        return {key: _of_key(str(key), each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in fields(value)]
        changed = {key: _of_key(key, getattr(value, key)) for key in names}
        return replace(value, **changed)
    return value


def _of_key(key: str, value: Any) -> Any:
    if key in _LEFT_ALONE:
        return value
    if key.endswith("certainty"):
        if value == "exact":
            return ON_GRID
        if isinstance(value, Mapping):
            return {each: _of_key(key, word) for each, word in value.items()}
    return for_this_grid(value)


def _of_grid(found: re.Match[str]) -> str:
    return f"{found[1]} {ON_GRID}" if found[1] else ON_GRID


def plain(value: Any) -> Any:
    """Return a value made of JSON's own types only, infinities written as text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {_text(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return plain(value.tolist())
    if isinstance(value, os.PathLike):
        return _text(os.fspath(value))
    raise SimgapError(
        f"a {type(value).__name__} has no place in a record",
        hint="this is a defect of simgap; please report it",
    )


def encode(record: Any, *, indent: int = 0) -> bytes:
    """Return a record as JSON in UTF-8, with a line end."""
    import msgspec

    found = plain(record)
    if isinstance(found, dict) and (found.get("provenance") or {}).get("grid"):
        found = for_this_grid(found)
    text = msgspec.json.encode(found)
    whole = msgspec.json.format(text, indent=indent) if indent else text
    return clean_json(whole.decode()).encode() + b"\n"


def number(value: Any) -> float:
    """Return a number of a record as a float: "inf" and "-inf" are infinities."""
    if value == "inf":
        return inf
    if value == "-inf":
        return -inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidFile(
            f"a number is expected in the record, got {str(value)[:40]!r}",
            hint="make the record again with this version of simgap",
        )
    return float(value)


def write_record(record: Any, path: Path) -> None:
    """Write a record as indented JSON; the file is replaced whole."""
    content = encode(record, indent=2)
    with replacing(path) as draft:
        draft.write_bytes(content)


def read_record(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or say why there is none."""
    import msgspec

    text = read_text(path, "record", most=LARGEST_RECORD)
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidFile(
            f"{path} is not a JSON record: {error}", hint="make the record again"
        ) from error
    if not isinstance(found, dict):
        raise InvalidFile(
            f"{path} holds a JSON {type(found).__name__}, not an object",
            hint="make the record again",
        )
    if found.get("schema") != SCHEMA:
        raise InvalidFile(
            f"{path} has schema {found.get('schema')!r}, this simgap reads {SCHEMA}",
            hint="make the record again with this version of simgap",
        )
    return found


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a draft beside `path` and put it in its place when the block succeeds.

    The draft is synced before it is renamed and the folder after; if anything fails
    the old file is untouched and no draft is left.
    """
    _check_target(path)
    draft = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        mode = stat.S_IMODE(os.fstat(handle).st_mode)  # as the user's umask has it
        os.close(handle)
        try:
            yield draft
            draft.chmod(mode)  # the block may have put another file there
            _sync(draft)
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        with suppress(OSError):  # some file systems cannot sync a folder
            _sync(path.parent)
    except OSError as error:
        raise InvalidFile(
            f"cannot write {path}: {error.strerror or error}",
            hint="the old file, if there was one, is untouched; "
            "check the folder, its permissions and the free space",
        ) from error


def _check_target(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InvalidFile(
                f"cannot write {path}: there is no folder {path.parent}",
                hint="make the folder first",
            ) from None
        return
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot write {str(path)[:200]!r}: {error}", hint="choose another name"
        ) from error
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise InvalidFile(f"cannot write {path}: it is {what}", hint="name a file")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _number(value: float) -> float | str:
    if isnan(value):
        raise SimgapError(
            "a result is not a number (NaN), so it is not written",
            hint="this is a defect of simgap; please report the command",
        )
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)  # numpy's floats are floats as well, but not JSON's


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:  # bytes of a file name that are not UTF-8
        return value.encode("utf-8", "backslashreplace").decode()
    return value
