"""Tests run with a change: a fork of a process that has collected them all.

The change is made in the memory of the fork: functions get the code of the changed
file, wherever they were imported. Kernels are compiled from it, as is every kernel that
contains one of them; the code that is kept on disk stays as it is. No file is touched.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import resource
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from mmap import mmap
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from numba.core import config

from simgap._kernels import compile_clock, compile_news, kept_code
from tests.mutants.calls import files_needed
from tests.mutants.changes import Change, changed_tree

MEMORY = 6 << 30  # bytes of data that a fork may have
LONGEST = 3.0  # seconds of processor time of a test that is run
PATIENCE = 12  # wall clock seconds of a fork per second of its processor time


def forked(work: Callable[[], object], seconds: int) -> Any:
    """Return what some work in a fork returned; None if it ended otherwise."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        nowhere = os.open(os.devnull, os.O_RDWR)
        for each in range(3):
            os.dup2(nowhere, each)
        try:
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    late = time.monotonic() + PATIENCE * seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > late:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    with os.fdopen(reading) as found:
        return json.loads(found.read() or "null")


def recorded(tests: list[pytest.Item], root: Path, file: Path) -> None:
    """Run the tests of one file and write what each of them calls, and how long."""
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        called.add(frame.f_code)

    def end_long_ones(*_: object) -> None:
        if _seconds() - begin > LONGEST and not compile_news.compiling:
            raise TimeoutError("too long to be run for every change")

    signal.signal(signal.SIGPROF, end_long_ones)
    signal.setitimer(signal.ITIMER_PROF, 1.0, 1.0)
    with file.open("a") as out:
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            called.clear()
            begin = _seconds()
            for trace in (sys.settrace, threading.settrace):
                trace(note)
            good = passes(test, following)
            for trace in (sys.settrace, threading.settrace):
                trace(None)
            names = {f"{each.co_filename}:{each.co_qualname}" for each in called}
            line = {
                "test": test.nodeid,
                "passed": good,
                "seconds": round(max(_seconds() - begin, 0.0), 3),
                "called": [
                    each.removeprefix(f"{root}/")
                    for each in sorted(names)
                    if each.startswith(f"{root}/")
                ],
            }
            print(json.dumps(line), file=out, flush=True)


def _seconds() -> float:
    """Return processor time of this process and its children, less compilation."""
    return sum(os.times()[:4]) - compile_clock.compile_seconds()


def passes(test: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test; return whether it passed (one that is skipped shows nothing)."""
    reports = runtestprotocol(test, nextitem=following, log=False)
    return all(report.passed for report in reports)


def tried(
    tests: list[pytest.Item], root: Path, change: Change, seconds: float, now: mmap
) -> dict[str, str]:
    """Run tests with a change until one fails, or for some seconds, at least one.

    `now` is told the place of the test that runs.
    """
    try:
        made(root, change)
    except Exception as error:
        return {"result": "not made", "by": repr(error)}
    spent = 0.0
    for place, test in enumerate(tests):
        now[:4] = place.to_bytes(4)
        begin = _seconds()
        if not passes(test, None):
            return {"result": "killed", "by": test.nodeid}
        spent += min(_seconds() - begin, LONGEST)  # one that a change makes long: next
        if spent > seconds:
            return {"result": "survived", "by": f"{place + 1} of {len(tests)} tests"}
    return {"result": "survived", "by": f"{len(tests)} tests"}


def made(root: Path, change: Change) -> None:
    """Make a change in this process."""
    module = import_module(module_of(change.path))
    tree = changed_tree(root, change)
    if change.path.startswith("src/simgap/_kernels/") and change.path.count("/") > 3:
        _compile_anew(root, change.path)
    if change.function:
        _swap_code(compile(tree, str(root / change.path), "exec"), change.function)
    else:
        _set_constants(tree, vars(module), change.line)


def module_of(path: str) -> str:
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] == "src" else parts)


def _swap_code(whole: CodeType, name: str) -> None:
    new = {
        (each.co_qualname, each.co_firstlineno): each
        for each in _codes(whole)
        if each.co_qualname == name
    }
    file = whole.co_filename
    known = functions_in_memory()
    if not any((file, *place) in known for place in new):
        functions_in_memory.cache_clear()  # it was imported just now
        known = functions_in_memory()
    found = [
        (code, each) for place, code in new.items() for each in known[file, *place]
    ]
    for code, each in found:
        each.__code__ = code
    if not found:
        raise LookupError(f"no function {name} is in memory")


@cache
def functions_in_memory() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Return every function by file, name and line.

    A process that forks calls it before: a fork that looks at all objects copies them.
    """
    found = defaultdict[tuple[str, str, int], list[FunctionType]](list)
    for each in gc.get_objects():
        if type(each) is FunctionType:
            code = each.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(each)
    gc.freeze()
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _set_constants(tree: ast.Module, old: dict[str, Any], line: int) -> None:
    """Run the assignment at a line again, for every module that has its names."""
    at = [each for each in tree.body if each.lineno <= line <= (each.end_lineno or 0)]
    scope = dict(old)
    exec(compile(ast.Module(at, []), "constants", "exec"), scope)
    names = [each for each in old if scope[each] is not old[each]]
    before = {name: old[name] for name in names}
    for module in list(sys.modules.values()):
        if module.__name__.startswith(("simgap", "tests")):
            for name in names:
                if vars(module).get(name, names) is before[name]:
                    setattr(module, name, scope[name])


def _compile_anew(root: Path, path: str) -> None:
    """Let no kept code be used of a kernel that may contain the changed file's.

    What is compiled anew minds the ends of arrays, as in `test_ends_of_arrays`.
    """
    stamp, load = kept_code._stamp, kept_code.KeptCode.load_overload

    def other_stamp(source: Path) -> str:
        inside = str(source).startswith(str(root)) and path in files_needed(
            root, str(source.relative_to(root))
        )
        return stamp(source) + ("-changed" if inside else "")

    def careful_load(self: Any, sig: Any, context: Any) -> Any:
        given_kernel = "ispatcher" in repr(sig)
        return None if given_kernel else load(self, sig, context)

    changes: dict[str, Any] = {
        "load_overload": careful_load,
        "save_overload": lambda self, sig, data: None,
    }
    for name, new in changes.items():
        setattr(kept_code.KeptCode, name, new)
    vars(kept_code)["_stamp"] = other_stamp
    vars(config)["BOUNDSCHECK"] = 1


def in_turn(tests: dict[str, float]) -> list[str]:
    """Return tests in the order to run them: those of little cost come first.

    Of tests that differ by their arguments only, one is likely to be as good as
    another, so that each next one waits longer.
    """
    seen: dict[str, int] = {}
    queue = []
    for test, cost in sorted(tests.items(), key=lambda each: each[1]):
        function = test.partition("[")[0]
        seen[function] = seen.get(function, 0) + 1
        queue.append(((cost + 0.02) * seen[function], test))
    return [test for _, test in sorted(queue)]
