"""Files that cells read, on machines that may not have them.

A file is put into Ray's object store once. A machine on which all files of a cell lie
where they lie here, with the same content, uses them there: a shared file system needs
no copies. Any other one gets copies, written once and named by their content, in a tree
of the same shape: what lies beside a file here lies beside it there.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from simgap.errors import InvalidFile
from simgap.user_files import replacing


class Sent(NamedTuple):
    """A file of the driver's machine."""

    name: str  # as it is spelled
    path: str  # absolute
    digest: str  # SHA-256 of its content
    content: list[Any]  # one reference to the object store: a list is not fetched


class Placed(NamedTuple):
    """Where a machine has the files of a cell."""

    root: str  # "" if they lie where they lie on the driver's machine
    folder: str  # that names without a leading / start from

    def text(self, text: str, files: Iterable[Sent]) -> str:
        """Return a text that names files, so that it names them where they are."""
        whole = {each.name: each.path for each in files if each.name[0] in "/~"}
        if not self.root or not whole:
            return text
        names = sorted(whole, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, names)))
        return pattern.sub(lambda found: self.root + whole[found[0]], text)


class Outbox:
    """Files on their way to the object store, each content once."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._put: dict[str, Any] = {}

    def sent(self, files: Iterable[Path]) -> tuple[Sent, ...]:
        """Return files as tasks are told of them."""
        return tuple(self._one(each) for each in files)

    def _one(self, file: Path) -> Sent:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise InvalidFile(
                f"cannot read {file}: {error.strerror or error}",
                hint="a cell of the plan needs it",
            ) from error
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._put:
            self._put[digest] = self._ray.put(content)
        path = os.path.abspath(file.expanduser())  # noqa: PTH100 - keeps links
        return Sent(str(file), path, digest, [self._put[digest]])


def placed(files: tuple[Sent, ...], folder: str, get: Any) -> Placed:
    """Return where this machine has files; `get` fetches what it has not."""
    if all(_is_whole(Path(each.path), each.digest) for each in files):
        return Placed("", folder)
    name = hashlib.sha256(repr([each[1:3] for each in files]).encode()).hexdigest()
    root = own_folder() / "trees" / name
    contents = own_folder() / "contents"
    contents.mkdir(exist_ok=True)
    for each in files:
        kept = contents / each.digest
        if not _is_whole(kept, each.digest):
            with replacing(kept) as draft:
                draft.write_bytes(get(each.content[0]))
        _link(kept, Path(f"{root}{each.path}"))
    inside = Path(f"{root}{folder}")
    inside.mkdir(parents=True, exist_ok=True)
    return Placed(str(root), str(inside))


def own_folder() -> Path:
    """Return a folder on this machine that is this user's alone."""
    folder = Path(tempfile.gettempdir()) / f"simgap-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    about = folder.lstat()
    alone = stat.S_ISDIR(about.st_mode) and not about.st_mode & 0o077
    if not alone or about.st_uid != os.getuid():
        raise InvalidFile(
            f"{folder} is not a folder of this user alone",
            hint="remove it, or set TMPDIR to another place",
            code="folder-of-others",
        )
    return folder


def _link(kept: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        if place.samefile(kept):
            return
        place.unlink()
    except FileNotFoundError:
        pass
    with suppress(FileExistsError):  # somebody was faster
        os.link(kept, place)


_read: dict[Path, tuple[tuple[int, ...], str]] = {}  # by this process


def _is_whole(path: Path, digest: str) -> bool:
    """Return whether a file is there with this content; it is read if it is new."""
    try:
        about = path.stat()
        version = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        if path not in _read or _read[path][0] != version:
            _read[path] = version, hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return False
    return _read[path][1] == digest
