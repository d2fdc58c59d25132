"""A randomization from whatever describes it: a text, a file or a Python value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from simgap.continuous.columns import ENDINGS
from simgap.continuous.randomization.grammar import parse_line
from simgap.continuous.randomization.spec import Item, Randomization, Rows
from simgap.continuous.randomization.toml_form import law_of, parse_toml
from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import shown
from simgap.user_files import opened, size_of

Randomized = Randomization | Mapping[str, object] | str | Path  # what may describe it

LARGEST_TOML = 2**20  # bytes
FILE = re.compile(r"[^={}]+\.(?i:csv|npz|toml|ya?ml|json|parquet|pkl|txt)")


def parse_randomization(given: Randomized) -> Randomization:
    """Return the randomization that a text, a file or a Python value describes.

    A text is one in the grammar, one in TOML, or the name of a .toml, .csv, .npz or
    (Isaac Lab's) .yaml file. A mapping gives names a law, a number or a text.
    """
    if isinstance(given, Randomization):
        return given
    if isinstance(given, Mapping):
        items = (Item(str(name), law_of(law, str(name))) for name, law in given.items())
        return Randomization(tuple(items))
    if isinstance(given, Path):
        return _of_file(given)
    if not isinstance(given, str):
        raise InvalidArgument(
            f"a randomization is {shown(repr(given))}",
            hint='give a text such as "mass=0.5..2", a path, a mapping or a '
            "Randomization",
            code="randomize-value",
        )
    if re.match(r"\s*(\[\s*randomize|#)", given):
        return parse_toml(given)
    if len(given) < 4096 and FILE.fullmatch(given.strip()) and "rows(" not in given:
        return _of_file(Path(given.strip()))
    return parse_line(given)


def _of_file(path: Path) -> Randomization:
    ending = path.suffix.lower()
    if ending in ENDINGS:
        return Randomization(rows=Rows(str(path)))
    if ending in {".yaml", ".yml"}:
        from simgap.continuous.randomization.isaac import read_isaac

        return read_isaac(path)[0]
    if ending != ".toml":
        raise InvalidFile(
            f"{path} is no file of a randomization",
            hint="it ends in .toml, .csv, .npz or (Isaac Lab's) .yaml",
            code="randomize-file",
        )
    with opened(path, "TOML file", endings=(".toml",)) as stream:
        content = stream.read(LARGEST_TOML + 1) if size_of(stream) else b""
    if len(content) > LARGEST_TOML:
        raise InvalidFile(
            f"{path} has more than {LARGEST_TOML} bytes",
            hint="put draws into a file of rows",
            code="randomize-file",
        )
    try:
        spec = parse_toml(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{path} is not text in UTF-8", hint="save it so", code="randomize-file"
        ) from error
    except InvalidArgument as error:
        raise InvalidFile(
            f"{path}: {error.problem}", hint=error.hint, code=error.code
        ) from error
    if spec.rows is None:
        return spec
    return replace(spec, rows=Rows(str(path.parent / spec.rows.file)))
