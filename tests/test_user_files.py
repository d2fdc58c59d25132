"""Files of users that never end, never begin, or are much more than they look."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simgap import load_model
from simgap.errors import InvalidFile
from simgap.interop.transition_log import StateSpace, read_transition_log
from simgap.policies import load_policy
from simgap.records.files import LARGEST_RECORD, read_object
from simgap.user_files import (
    made_folder,
    replacing,
)

READERS: dict[str, Callable[[Path], Any]] = {
    "model.simgap": load_model,
    "model.npz": load_model,
    "model.npy": load_model,
    "policy.simgap": load_policy,
    "record.json": read_object,
    "log.csv": lambda path: read_transition_log(path, StateSpace(2, 2)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidFile, match="not a regular file but a pipe"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_a_device_is_not_read(name: str, device: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(device)
    with pytest.raises(InvalidFile, match="not a regular file but a device"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_a_folder_and_a_circle_of_links_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidFile, match="is a folder"):
        READERS[name](tmp_path / name)
    (tmp_path / name).rmdir()
    (tmp_path / name).symlink_to(tmp_path / name)
    with pytest.raises(InvalidFile, match="cannot read"):
        READERS[name](tmp_path / name)


def test_rewards_beside_a_kernel_are_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "m.npy").touch()
    os.mkfifo(tmp_path / "m.rewards.npy")
    with pytest.raises(InvalidFile):
        load_model(tmp_path / "m.npy")


def test_a_file_larger_than_a_record_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_RECORD + 1)  # takes no room on the disk
    tracemalloc.start()
    with pytest.raises(InvalidFile, match=str(LARGEST_RECORD)):
        read_object(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def old(path: Path) -> Path:
    """Return a file that was written a while ago."""
    path.write_text("half")
    os.utime(path, (0, 0))
    return path


def test_drafts_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """They are where the same file is written again; others are left alone."""
    left = old(tmp_path / ".answer.json.0123456789ab.tmp")
    others = {
        old(tmp_path / name)
        for name in (
            ".answer.json.other.0123456789ab.tmp",
            ".answer.json.0123456789ab.tmp.more",
            ".another.json.0123456789ab.tmp",
            ".answer.json.of mine.tmp",
        )
    }
    fresh = tmp_path / ".answer.json.ba9876543210.tmp"
    fresh.write_text("begun just now, not locked yet")
    path = tmp_path / "answer.json"
    with replacing(path) as draft:
        draft.write_text("whole")
    assert not left.exists()
    assert set(tmp_path.iterdir()) == {path, fresh, *others}


def test_a_draft_that_is_being_written_is_not_removed(tmp_path: Path) -> None:
    """Two processes may write the same file: the last one wins."""
    path = tmp_path / "answer"
    with replacing(path) as slow:
        slow.write_text("slow")
        os.utime(slow, (0, 0))
        with replacing(path) as quick:
            quick.write_text("quick")
        assert path.read_text() == "quick"
    assert path.read_text() == "slow"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["file/inside", "no\0name"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, name: str) -> None:
    assert made_folder(tmp_path / "new" / "folder").is_dir()
    assert made_folder(str(tmp_path)) == tmp_path  # it is there already
    (tmp_path / "file").touch()
    with pytest.raises(InvalidFile) as told:
        made_folder(tmp_path / name)
    assert told.value.code == "unwritable-folder"
