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
from simgap.records import LARGEST_RECORD, read_object
from simgap.user_files import (
    DEEPEST,
    LARGEST_WHOLE,
    MOST_VALUES,
    check_json,
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


@pytest.mark.parametrize("item", [b"[],", b"{},", b'"",', b"0,", b'"a":0,'])
def test_many_values_are_refused_before_they_are_made(item: bytes) -> None:
    text = b"[" + item * MOST_VALUES + b"0]"
    with pytest.raises(InvalidFile, match=f"{MOST_VALUES} are allowed"):
        check_json(text, "it")
    check_json(b"[" + item * 1000 + b"0]", "it")


def test_commas_and_brackets_in_words_are_no_values() -> None:
    check_json(b'["' + rb"[{,:\"" * MOST_VALUES + b'"]', "it", most=2)
    check_json(rb'["\\", "\\\"[[["]', "it", most=3)
    with pytest.raises(InvalidFile, match="about 4 values"):
        check_json(rb'["\\", "\\\\", 1]', "it", most=3)


@pytest.mark.parametrize("signs", [b"[]", b'{"a":'])
def test_depth_has_a_limit(signs: bytes) -> None:
    first, last = (b"[", b"]") if signs == b"[]" else (b'{"a":', b"}")
    check_json(first * DEEPEST + b"0" + last * DEEPEST, "it")
    with pytest.raises(InvalidFile, match=f"more than {DEEPEST} deep"):
        check_json(first * (DEEPEST + 1) + b"0" + last * (DEEPEST + 1), "it")


@pytest.mark.parametrize("text", [b"[" * 10**6, b'"\\"' * 10**6, b'"' + b"\\" * 10**6])
def test_what_is_not_json_is_left_to_the_parser_and_takes_no_time(text: bytes) -> None:
    check_json(text, "it")


@pytest.mark.parametrize("number", [10**19, -(10**19), LARGEST_WHOLE + 1, 10**400])
def test_whole_numbers_have_a_limit(number: int) -> None:
    with pytest.raises(InvalidFile, match="the whole number"):
        check_json(b'{"schema": 1, "x": %d}' % number, "it")


@pytest.mark.parametrize(
    "number", [str(LARGEST_WHOLE), "0." + "1" * 30, "1" * 30 + ".5", "1" * 30 + "e5"]
)
def test_other_numbers_may_have_many_digits(number: str) -> None:
    check_json(f'{{"x": {number}, "{10**30}": "{10**30}"}}'.encode(), "it")


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
