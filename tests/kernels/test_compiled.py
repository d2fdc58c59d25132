"""Machine code of kernels on disk: wherever it lies, whatever happened to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import config

from simgap._kernels import compile_news, compiled, kept_code
from simgap._kernels.kept_code import PRIVATE

CODE = "def doubled(x):\n    return 2.0 * x\n"


class Library:
    """A file with a kernel, and where code may lie: beside it, home, temporary."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.source, self.cache = folder / "library" / "lib.py", folder / "cache"
        self.temporary, self.warned = folder / "tmp", list[str]()
        for each in (self.source.parent, self.temporary):
            each.mkdir()
        self.source.write_text(CODE)
        patch.setattr(config, "CACHE_DIR", "")
        patch.setenv("XDG_CACHE_HOME", str(self.cache))
        patch.setattr(kept_code, "_temporary", lambda: str(self.temporary))
        patch.setattr(kept_code, "_refused", {})
        patch.setattr(kept_code, "_told", set())
        patch.setattr(compile_news, "warn", self.warned.append)

    def kernel(self) -> Any:
        """Return the kernel as another process would have it."""
        kept_code._stamp.cache_clear()
        kept_code._refused.clear()
        kept_code._told.clear()
        spec = spec_from_file_location("lib", self.source)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return compiled.kernel(module.doubled)

    def used(self) -> str:
        """Return whether a process loads or compiles the kernel, which works."""
        found = self.kernel()
        assert found(21.0) == 42.0
        return "loaded" if found.stats.cache_hits else "compiled"

    def code(self) -> list[Path]:
        return sorted(self.source.parent.parent.rglob("*.nbc"))


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(compiled, "_kernels", [])
    return Library(tmp_path, monkeypatch)


def test_code_follows_a_change_of_any_kernel_or_of_the_compiler(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel may contain another one, of another file."""
    stamp = kept_code._stamp(library.source)
    read = Path.read_bytes
    for patch in (
        (Path, "read_bytes", lambda path: read(path) + b"#" * ("walk" in path.stem)),
        (numba, "__version__", "another"),
    ):
        with monkeypatch.context() as changed:
            changed.setattr(*patch)
            kept_code._stamp.cache_clear()
            assert kept_code._stamp(library.source) != stamp
    kept_code._stamp.cache_clear()
    assert kept_code._stamp(library.source) == stamp


def test_code_falls_back_from_place_to_place(library: Library) -> None:
    """The user's cache, then a private folder, then none; the last two are told."""
    (library.source.parent / "__pycache__").touch()  # no folder can be made there
    assert library.used() == "compiled"
    (kept,) = library.code()
    assert kept.is_relative_to(library.cache) and not library.warned
    assert library.used() == "loaded"

    library.cache.rename(library.cache.with_name("gone"))
    library.cache.touch()
    assert library.used() == "compiled"
    private = library.temporary / PRIVATE
    assert private.stat().st_mode & 0o077 == 0
    assert len(list(private.rglob("*.nbc"))) == 1
    assert str(private) in library.warned[0] and len(library.warned) == 1
    assert library.used() == "loaded"

    private.chmod(0o770)  # somebody else could have put code there
    assert library.used() == "compiled"
    assert "not kept" in library.warned[1] and len(library.warned) == 2
    assert library.used() == "compiled"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "a byte": lambda whole: whole[:1],
    "cut": lambda whole: whole[: len(whole) // 2],
    "longer": lambda whole: whole + b"\0",
    "flipped": lambda whole: whole[:-900] + bytes([whole[-900] ^ 1]) + whole[-899:],
    "seal flipped": lambda whole: bytes([whole[0] ^ 1]) + whole[1:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_compiled_and_written_again(
    damage: str, library: Library
) -> None:
    """It would be run as it is: a flipped bit could change a number."""
    library.used()
    (kept,) = library.code()
    kept.write_bytes(DAMAGES[damage](kept.read_bytes()))
    assert library.used() == "compiled"
    assert library.used() == "loaded"


NOBODY = """
import os
import tempfile
from simgap._kernels import compile_news
from simgap._kernels.compiled import kernel
from simgap._kernels.solving import episodic
compile_news.warn = lambda news: print("warned")
os.environ.pop("XDG_CACHE_HOME", None)
os.environ["HOME"] = tempfile.tempdir = "/proc"
kernel(lambda x: x)(1)  # the compiler is imported
os.setuid(65534)
print(kernel(lambda x: 2.0 * x)(21.0))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_who_may_read_and_write_nowhere_gets_the_answer() -> None:
    """As in a container: neither the library, nor home, nor temporary files."""
    found = subprocess.run(
        [sys.executable, "-c", NOBODY], capture_output=True, text=True, check=False
    )
    assert found.stdout.split() == ["warned", "42.0"], found.stderr
