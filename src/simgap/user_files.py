"""Files of users: only regular ones are read, up to a limit, and replaced whole.

A pipe that nobody writes to would be waited for, a device never ends, and a text of
empty lists takes twenty times its size as values. So a file is looked at before it is
opened and again when it is open, its size is limited before and while it is read, and
the values of a JSON text are counted before they are made. A file that is written is
replaced whole: a reader sees the old content or the new, never a part.
"""

from __future__ import annotations

import ast
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOSPC
from pathlib import Path
from typing import BinaryIO

from simgap.errors import InvalidArgument, InvalidFile
from simgap.interrupts import check_interrupt
from simgap.text import nearest, shown

MOST_VALUES = 5_000_000  # of one JSON text: about half a gigabyte
DEEPEST = 64  # lists and objects inside each other
LARGEST_WHOLE = 2**63 - 1
LONGEST_NAME = 200  # bytes
JUST_BEGUN = 1.0  # seconds in which a draft may not be locked yet
FLAGS = sum(getattr(os, each, 0) for each in ("O_NONBLOCK", "O_NOCTTY", "O_BINARY"))

STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
BRACKETS = b"[]{}"
OTHERS = bytes(each for each in range(256) if each not in BRACKETS)
LARGEST_XML = 20_000_000  # bytes of a MuJoCo model
ASSET = re.compile(r"""\bfile\w*\s*=\s*["']([^"'\0]+)["']""")
ASSET_FOLDER = re.compile(r"""\b(?:mesh|texture|asset)dir\s*=\s*["']([^"'\0]+)["']""")
LONG_WHOLE = re.compile(rb"(?<![0-9.eE+])[0-9]{19,}+(?![.eE])")


@contextmanager
def opened(
    path: Path, what: str, *, endings: tuple[str, ...] = (), pipes: str = ""
) -> Iterator[BinaryIO]:
    """Yield a regular file open for reading; whatever fails is refused by name.

    `what` is how such a file is called in a hint, `endings` are those of its kind, and
    `pipes` says what to do instead of naming a pipe.
    """
    try:
        handle = _handle(path, what, pipes)
        with os.fdopen(handle, "rb") as stream:
            yield stream
    except FileNotFoundError as error:
        raise InvalidFile(
            f"there is no file {str(path)[:1000]}",
            hint=similar_files(path, endings),
            code="no-file",
        ) from error
    except OSError as error:
        raise InvalidFile(
            f"cannot read {str(path)[:200]!r}: {error.strerror or error}",
            hint="check the name and the permissions of the file and its folder",
        ) from error
    except MemoryError as error:
        raise InvalidFile(
            f"{path} needs more memory than there is",
            hint="use a machine with more, or a smaller file",
        ) from error


def size_of(stream: BinaryIO) -> int:
    """Return the bytes of an open file as the system counts them."""
    return os.fstat(stream.fileno()).st_size


def read_text(path: Path, what: str, *, most: int) -> bytes:
    """Return the bytes of a JSON file that is safe to parse, at most `most` of them."""
    with opened(path, what, endings=(path.suffix,)) as stream:
        size = size_of(stream)
        text = stream.read(most + 1) if size <= most else b""  # it may have grown
    if max(size, len(text)) > most:
        raise InvalidFile(
            f"{path} has {max(size, len(text))} bytes, a {what} at most {most}",
            hint="is it another kind of file?",
        )
    check_json(text, str(path))
    return text


def check_json(text: bytes, what: str, *, most: int = MOST_VALUES) -> None:
    """Raise if a text would make too many or too large values, or too deep ones.

    It need not be JSON: the parser says so if it is not.
    """
    bare = STRING.sub(b"0", text)
    values = sum(bare.count(sign) for sign in (b",", b":", b"[", b"{")) + 1
    if values > most:
        raise InvalidFile(
            f"{what} has about {values} values, {most} are allowed",
            hint="is it another kind of file, or are there names without need?",
        )
    nested = bare.translate(None, OTHERS)
    for _ in range(DEEPEST):
        nested = nested.replace(b"[]", b"").replace(b"{}", b"")
    if b"[]" in nested or b"{}" in nested:
        raise InvalidFile(
            f"{what} has lists or objects more than {DEEPEST} deep in each other",
            hint="the file is damaged or of another kind; make it again",
        )
    for number in LONG_WHOLE.findall(bare):
        if len(number) > 19 or int(number) > LARGEST_WHOLE:
            raise InvalidFile(
                f"{what} has the whole number {number[:30].decode()}, the largest is "
                f"{LARGEST_WHOLE}",
                hint="the file is damaged; make it again",
            )


def similar_files(path: Path, endings: tuple[str, ...]) -> str:
    """Return the hint for a file that is not there: its neighbours with such a name.

    Without any, files in that folder which end as they should.
    """
    try:
        beside = [each.name for each in path.parent.iterdir() if each.is_file()]
    except (OSError, ValueError):
        return f"there is no folder {path.parent} either"
    near = nearest(path.name, beside, cutoff=0.6, most=3)
    if near:
        return f"did you mean {' or '.join(str(path.with_name(n)) for n in near)}?"
    fitting = sorted(name for name in beside if Path(name).suffix in endings)[:3]
    if fitting:
        return f"files in that folder: {', '.join(fitting)}"
    return "check the name and the folder you are in"


def _handle(path: Path, what: str, pipes: str) -> int:
    """Return a descriptor of a regular file; opening itself may do harm to others."""
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a NUL in the name
        raise FileNotFoundError from error
    _check_regular(mode, path, what, pipes)
    handle = os.open(path, os.O_RDONLY | FLAGS)
    try:
        _check_regular(os.fstat(handle).st_mode, path, what, pipes)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _check_regular(mode: int, path: Path, what: str, pipes: str) -> None:
    if stat.S_ISDIR(mode):
        raise InvalidFile(f"{path} is a folder", hint=f"name a {what} in it")
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise InvalidFile(
            f"{path} is not a regular file but {kind}", hint=pipes or f"name a {what}"
        )


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Yield a draft beside `path` and put it in its place when the block succeeds.

    The draft is synced before it is renamed and the folder after (unless it need not be
    `durable`); if anything fails the old file is untouched and no draft is left. Drafts
    that processes left which were killed are removed.
    """
    _check_target(path)
    name = f".{path.name[:100]}."
    draft = path.with_name(f"{name}{os.urandom(6).hex()}.tmp")
    try:
        _remove_drafts(path.parent, name)
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        try:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(handle, fcntl.LOCK_EX)  # so it is not taken for left over
            mode = stat.S_IMODE(os.fstat(handle).st_mode)  # as the user's umask has it
            yield draft
            draft.chmod(mode)  # the block may have put another file there
            if durable:
                _sync(draft)
            check_interrupt()  # one that got lost leaves nothing that looks finished
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        finally:
            os.close(handle)
        if durable:
            with suppress(OSError):  # some file systems cannot sync a folder
                _sync(path.parent)
    except OSError as error:
        raise InvalidFile(
            f"cannot write {path}: {error.strerror or error}",
            hint="the old file, if there was one, is untouched; "
            "check the folder, its permissions and the free space",
            code=why_not_written(error),
        ) from error


def made_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder, made if it is not there."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"cannot make the folder {folder}: {getattr(error, 'strerror', error)}",
            hint="choose another one with --out DIR",
            code="unwritable-folder",
        ) from error
    return folder


def plain_name(name: str, what: str) -> str:
    """Return a name that a folder or file can have; a path is refused."""
    if (
        not name.strip()
        or name.strip(".") == ""
        or len(name.encode()) > LONGEST_NAME
        or any(each in "/\\:" or not each.isprintable() for each in name)
    ):
        raise InvalidArgument(
            f"{what} is called {shown(name)!r}",
            hint="a name has no / and no \\ in it, and is no path: push-test",
            code="not-a-name",
        )
    return name


def why_not_written(error: BaseException) -> str:
    """Return the code of an error that a write met."""
    full = getattr(error, "errno", None) == ENOSPC
    return "disk-full" if full else "failed-write"


def _remove_drafts(folder: Path, name: str) -> None:
    """Remove drafts of a file that nobody holds and that are not just begun."""
    with os.scandir(folder) as entries:
        drafts = [
            Path(each.path)
            for each in entries
            if each.name.startswith(name)
            and re.fullmatch(r"[0-9a-f]{12}\.tmp", each.name[len(name) :])
        ]
    for draft in drafts:
        with suppress(OSError):  # it is held, or gone, or not ours
            handle = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | FLAGS)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - os.fstat(handle).st_mtime > JUST_BEGUN:
                    draft.unlink()
            finally:
                os.close(handle)


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


def with_imports(path: Path) -> tuple[Path, ...]:
    """Return a Python file and every file in its folder that it imports, and theirs.

    What an import statement names is found, wherever it stands; nothing is run.
    """
    found: dict[Path, None] = {}
    left = [path]
    while left:
        file = left.pop()
        if file not in found:
            found[file] = None
            left += _imports(file, path.parent)
    return tuple(found)


def _imports(file: Path, folder: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # it does not run either
        return
    for node in ast.walk(tree):
        start = folder
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                start = file.parents[min(node.level, len(file.parents)) - 1]
            module = [node.module] if node.module else []
            names = [".".join([*module, each.name]) for each in node.names]
        else:
            continue
        for name in names:
            at = start
            for part in name.split("."):
                at /= part
                files = (at.with_suffix(".py"), at / "__init__.py")
                yield from (each for each in files if each.is_file())


def with_assets(path: Path) -> tuple[Path, ...]:
    """Return a MuJoCo model and every file that it names, and those that they name.

    A name is looked for beside the model, beside the file that has it, and in the
    folders of meshes and textures; a file that is too large for a model has none.
    """
    found: dict[Path, None] = {}
    left, folders = [path], [path.parent]
    while left:
        file = left.pop()
        if file in found:
            continue
        found[file] = None
        if file.suffix not in (".xml", ".mjcf", ".urdf"):
            continue
        try:
            with file.open("rb") as stream:
                text = os.fsdecode(stream.read(LARGEST_XML))
        except OSError:
            continue
        folders += [path.parent / each for each in ASSET_FOLDER.findall(text)]
        for name in ASSET.findall(text):
            tried = [file.parent / name, *(each / name for each in folders)]
            tried += [each / Path(name).name for each in folders]  # as for URDF
            left += [each for each in tried if each.is_file()]
    return tuple(found)
