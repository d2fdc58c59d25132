"""The tool that changes sources at random: what it changes, and that it is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from simgap._kernels.walking import episode_keys
from simgap.intervals import Certified
from tests.mutants.__main__ import ROOT
from tests.mutants.calls import files_needed, imports_between, users_of_kernels
from tests.mutants.changes import changed_tree, changes_of
from tests.mutants.trial import forked, in_turn, made

SOURCE = '''
"""A file."""
LIMIT = 2.5
def pick(values: list[float] = [1], *, most: int) -> float:
    """Words."""
    if most <= len(values) and not most:
        raise ValueError(f"{most + 1} is too many")
    values.append(0)
    list(zip(same(values, values), strict=True))
    return max(order(most, values, key=abs)) - LIMIT
'''


def test_every_kind_of_fault_is_made_where_something_is_computed(
    tmp_path: Path,
) -> None:
    (tmp_path / "file.py").write_text(SOURCE)
    found = {(each.before, each.after) for each in changes_of(tmp_path, "file.py")}
    condition = "most <= len(values) and (not most)"
    whole = "max(order(most, values, key=abs))"
    assert found == {
        ("2.5", "3.5"),
        ("0", "1"),
        (condition, "most <= len(values) or not most"),
        (condition, f"not ({condition})"),
        ("most <= len(values)", "most < len(values)"),
        ("not most", "most"),
        ("values.append(0)", "pass"),
        ("list(zip(same(values, values), strict=True))", "pass"),
        (f"{whole} - LIMIT", f"{whole} + LIMIT"),
        (whole, "min(order(most, values, key=abs))"),
        ("order(most, values, key=abs)", "order(values, most, key=abs)"),
        ("order(most, values, key=abs)", "order(most, values)"),
    }
    for change in changes_of(tmp_path, "file.py"):
        compile(changed_tree(tmp_path, change), "file.py", "exec")


STREAMS = "src/simgap/_kernels/walking/streams.py"


@pytest.mark.parametrize(
    ("path", "function", "after"),
    [
        (STREAMS, "scrambled", "bits << S31"),  # inside of the kernel that is called
        (STREAMS, "", "FIRST_DRAW"),
        ("src/simgap/intervals.py", "Certified.not_negative", "min(0.0, self.lower)"),
    ],
)
def test_a_change_is_at_work_in_a_fork_and_nowhere_else(
    path: str, function: str, after: str
) -> None:
    """In a process that has compiled nothing yet, as the tool is."""
    program = f"from {__name__} import compared; compared{path, function, after}"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def compared(path: str, function: str, after: str) -> None:
    """Compute something with a change and without."""

    def computed() -> list[float]:
        below = Certified(-1.0, 1.0).not_negative().lower
        return [below, *map(int, episode_keys(0, 0, 2))]

    def changed() -> list[float]:
        made(ROOT, change)
        return computed()

    text = (ROOT / path).read_text().splitlines()
    change = next(
        each
        for each in changes_of(ROOT, path)
        if each.function == function
        and (each.after == after or text[each.line - 1].startswith(f"{after} ="))
    )
    usual = forked(computed, 60)
    assert forked(changed, 60) != usual
    assert forked(computed, 60) == usual


@pytest.mark.slow
def test_what_contains_a_kernel_is_compiled_again_and_nothing_else() -> None:
    assert STREAMS in files_needed(ROOT, "src/simgap/_kernels/walking/walk.py")
    assert STREAMS not in files_needed(ROOT, "src/simgap/_kernels/solving/travel.py")
    users = users_of_kernels(ROOT, {f"{STREAMS}:uniform"})
    assert "src/simgap/_kernels/walking/walk.py:begin" in users


def test_tests_that_import_a_file_are_near_it() -> None:
    away = imports_between(ROOT, "tests/mutants/test_mutants.py")
    assert away["src/simgap/intervals.py"] == away[STREAMS] == 1
    assert away["src/simgap/_kernels/compiled.py"] == 2
    by_name = imports_between(ROOT, "tests/answers/test_notes.py")
    assert by_name["src/simgap/answers/run/run.py"] == 1  # import_module(...)


def test_quick_tests_come_first_and_variants_of_one_wait() -> None:
    tests = {"a[1]": 1.0, "a[2]": 1.0, "b": 1.5, "long": 9.0, "c": 0.1}
    assert in_turn(tests) == ["c", "a[1]", "b", "a[2]", "long"]


def test_a_fork_that_does_not_end_is_ended() -> None:
    def forever() -> None:
        while True:
            pass

    assert forked(forever, 1) is None
    assert forked(lambda: [1, "a"], 5) == [1, "a"]
