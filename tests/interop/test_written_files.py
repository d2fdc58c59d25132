"""Writing a model: whole or not at all, and as other files are written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simgap.interop import save_model
from tests.interop.test_damaged_files import saved, small_latent


@pytest.mark.parametrize("ending", [".simgap", ".npz"])
def test_a_write_beyond_the_file_size_limit_is_explained(
    ending: str, tmp_path: Path
) -> None:
    """A true failure of the system in the middle of writing, in another process."""
    path = saved(tmp_path, ending)
    before = path.read_bytes()
    script = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from simgap.cli.app.main import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", script, "export", str(path), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def test_a_symbolic_link_is_replaced_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    link = tmp_path / "model.simgap"
    link.symlink_to(precious)
    save_model(small_latent(), link)
    assert precious.read_text() == "keep me"
    assert not link.is_symlink()


@pytest.mark.parametrize("ending", [".simgap", ".npz"])
def test_a_new_file_has_the_permissions_of_the_umask(
    ending: str, tmp_path: Path
) -> None:
    before = os.umask(0o027)
    try:
        path = saved(tmp_path, ending)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
