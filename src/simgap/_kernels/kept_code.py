"""Machine code of kernels on disk: where it may lie, and how it is read and written.

A file holds the code of one kernel for one signature. Its name has digests of that
signature and the processor, and of all kernels (one may contain another) and the
compiler; its content is sealed. What is damaged or old is compiled and written anew.

Code is kept in the folder that NUMBA_CACHE_DIR names; without it beside the library, or
in the user's cache if that cannot be written. If none can, it is kept in a private
folder for temporary files, or nowhere: then every process compiles.
"""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from simgap._kernels import compile_news
from simgap.errors import SimgapError
from simgap.user_files import replacing

ENDING = "nbc"
SEAL = sha256().digest_size
PRIVATE = f"simgap-code-{os.getuid()}"  # among temporary files

_refused: dict[Path, str] = {}  # folders that took nothing, and why
_told: set[str] = set()


class KeptCode(FunctionCache):  # type: ignore[misc]
    """The code of one kernel, for all signatures that it was called with."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function
        self._source = Path(function.__code__.co_filename)
        name = function.__qualname__.replace("<", "").replace(">", "")
        python = f"py{sys.version_info[0]}{sys.version_info[1]}"
        self._base = f"{self._source.stem}.{name}.{python}."

    @property
    def cache_path(self) -> str:
        """Where numba says that it lies."""
        return str(self._source.parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code of a signature, or None if it is to be compiled."""
        target_context.refresh()
        key = self._index_key(sig, target_context.codegen())
        for folder in _folders(self._source):
            with suppress(OSError):
                payload = _unsealed((folder / self._name(key)).read_bytes(), key)
                if payload is not None:
                    return CompileResult._rebuild(target_context, *payload)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of a signature in the first folder that takes it."""
        if data.library.has_dynamic_globals or any(data.lifted):
            return  # it is of this process
        key = self._index_key(sig, data.codegen)
        body = dumps((key, data._reduce()))
        for folder in _folders(self._source, make=True):
            if folder in _refused:
                continue
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with replacing(folder / self._name(key), durable=False) as draft:
                    draft.write_bytes(sha256(body).digest() + body)
            except (SimgapError, OSError) as error:
                why = getattr(error.__cause__ or error, "strerror", None)
                _refused[folder] = f"{folder}: {why or 'it cannot be written'}"
                continue
            if folder.parent.name == PRIVATE:
                _tell(f"compiled code is kept in {folder.parent} for now")
            self._forget_old(folder)
            return
        _tell(f"compiled code is not kept, every command compiles: {_why_not()}")

    def _name(self, key: Any) -> str:
        what = sha256(repr(key).encode()).hexdigest()[:16]
        return f"{self._base}{_stamp(self._source)}.{what}.{ENDING}"

    def _forget_old(self, folder: Path) -> None:
        """Remove code of this kernel from before a change of the library."""
        now = self._base + _stamp(self._source)
        with suppress(OSError):
            for each in folder.glob(f"{self._base}*.{ENDING}"):
                if not each.name.startswith(now):
                    each.unlink()


def _unsealed(content: bytes, key: Any) -> Any:
    """Return what a file holds, None if it is damaged or of another signature."""
    body = content[SEAL:]
    if sha256(body).digest() != content[:SEAL]:
        return None
    found, payload = pickle.loads(body)
    return payload if found == key else None


@cache
def _stamp(source: Path) -> str:
    """Return a digest of what the code of a kernel is made from, and by what."""
    here = Path(__file__).parent
    whole = sha256(numba.__version__.encode())
    with suppress(OSError):  # the source is not for us to read: nothing is kept either
        for each in (here / "compiled.py", *sorted(here.glob("*/*.py")), source):
            whole.update(sha256(each.read_bytes()).digest())
    return whole.hexdigest()[:16]


def _folders(source: Path, *, make: bool = False) -> Iterator[Path]:
    """Return where the code of a source file may lie, the best place first."""
    here = source.parent
    apart = f"{here.name}-{sha256(str(here).encode()).hexdigest()[:16]}"
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / apart
    else:
        yield here / "__pycache__"
        with suppress(RuntimeError):  # there is no home
            home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            yield Path(home) / "simgap" / apart
    private = Path(_temporary()) / PRIVATE
    if make:
        with suppress(OSError):
            private.mkdir(mode=0o700)
    if _is_ours(private):
        yield private / apart


@cache
def _temporary() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # no folder for temporary files can be written
        return os.devnull


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is there into which nobody else can put code."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    alone = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return alone and found.st_uid == os.getuid()


def _why_not() -> str:
    return next(iter(_refused.values()), "there is no folder for it")


def _may_write(folder: Path) -> bool:
    """Return whether a folder could be written, or made."""
    while not os.access(folder, os.F_OK) and folder != folder.parent:
        folder = folder.parent
    return os.path.isdir(folder) and os.access(folder, os.W_OK)  # noqa: PTH112 (any)


def _tell(news: str) -> None:
    """Say something once, if anybody listens."""
    if compile_news.warn is not None and news not in _told:
        _told.add(news)
        compile_news.warn(f"{news}; NUMBA_CACHE_DIR may name a better place")
