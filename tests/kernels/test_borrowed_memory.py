"""Kernels that count no references: refused where that is unsafe, safe elsewhere."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache
from numba.core.runtime import _nrt_python, rtsys

from simgap._kernels import compiled
from simgap.arrays import FloatArray

CALLS = 2000


class Pair(NamedTuple):
    values: FloatArray
    length: int


def kernel(function: Callable[..., Any], *, allocates: bool = False) -> Any:
    """Return a kernel whose code is not kept."""
    made: Any = compiled.kernel(allocates=allocates)(function)
    made._cache = NullCache()
    return made


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_kernels", [])


@pytest.fixture
def counted() -> Iterator[None]:
    """Let numba count what is allocated and what is freed."""
    before = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not before:
        _nrt_python.memsys_disable_stats()


def left_behind(run: Callable[[], object]) -> int:
    """Return how many pieces of memory are not freed after some calls."""
    run()  # compiled
    gc.collect()
    before = rtsys.get_allocation_stats()
    for _ in range(CALLS):
        run()
    gc.collect()
    after = rtsys.get_allocation_stats()
    pieces = (after.alloc - after.free) - (before.alloc - before.free)
    return int(pieces + (after.mi_alloc - after.mi_free)) - int(
        before.mi_alloc - before.mi_free
    )


def ones(count: int) -> FloatArray:
    return np.ones(count)


def sum_of_made(count: int) -> float:
    made = np.empty(count)
    made[:] = 1.0
    return float(made[0])


def sum_of_list(count: int) -> int:
    made = [1, count]
    return made[0]


def sum_of_expression(values: FloatArray) -> float:
    made = values + 1.0
    return float(made[0])


VALUES = np.arange(5.0)
MAKING = [
    (sum_of_made, 3),
    (sum_of_list, 3),
    (sum_of_expression, VALUES),
]


@pytest.mark.parametrize(("function", "argument"), MAKING)
def test_a_kernel_that_makes_memory_has_to_say_so(
    function: Callable[..., Any], argument: Any
) -> None:
    silent = kernel(function)
    for _ in range(2):  # a second call does not find what the first left
        with pytest.raises(TypeError, match=r"allocates=True"):
            silent(argument)
    assert not silent.signatures
    said = kernel(function, allocates=True)
    said(argument)
    assert said.signatures


def test_a_helper_that_makes_memory_has_to_say_so_itself() -> None:
    helper = kernel(sum_of_made)

    def caller(count: int) -> float:
        return float(helper(count))

    with pytest.raises(TypeError, match=r"sum_of_made .*allocates=True"):
        kernel(caller, allocates=True)(3)


def itself(values: FloatArray) -> FloatArray:
    return values


def a_view(values: FloatArray) -> FloatArray:
    return values[1:]


def a_view_and_more(values: FloatArray) -> tuple[float, tuple[FloatArray, int]]:
    return 1.0, (values[1:], 2)


def a_named_tuple(values: FloatArray) -> Pair:
    return Pair(values, 2)


def perhaps_a_view(values: FloatArray) -> FloatArray | None:
    if values[0] > 1.0:
        return None
    return values[1:]


def one_by_one(values: FloatArray) -> Iterator[float]:
    for each in values:  # noqa: UP028 (numba knows no `yield from`)
        yield each


@pytest.mark.parametrize(
    "function",
    [itself, a_view, a_view_and_more, a_named_tuple, perhaps_a_view, one_by_one],
)
def test_a_kernel_that_returns_memory_counts_references(
    function: Callable[..., Any],
) -> None:
    """Its caller would give up a reference that was never taken."""
    with pytest.raises(TypeError, match=r"allocates=True"):
        kernel(function)(VALUES)
    kernel(function, allocates=True)(VALUES)


def test_memory_that_a_callee_made_is_counted() -> None:
    """Nobody would give it up."""
    fresh = kernel(ones, allocates=True)

    def first(count: int) -> float:
        return float(fresh(count)[0])

    with pytest.raises(TypeError, match=r"first calls .*allocates=True"):
        kernel(first)(3)


@pytest.mark.usefixtures("counted")
def test_a_leak_would_be_noticed() -> None:
    """What is refused above, as the bare compiler takes it."""
    fresh = kernel(ones, allocates=True)

    def first(count: int) -> float:
        return float(fresh(count)[0])

    leaking = njit(_nrt=False)(first)
    assert left_behind(lambda: leaking(3)) >= CALLS
    counting = kernel(first, allocates=True)
    assert left_behind(lambda: counting(3)) == 0


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("outer", [False, True])
@pytest.mark.parametrize("inner", [False, True])
def test_views_go_either_way(outer: bool, inner: bool) -> None:
    """Counting kernels call borrowing ones and the reverse, with views of all kinds."""

    def add_up(values: FloatArray, more: FloatArray | None = None) -> float:
        total = 0.0
        for i in range(values.shape[0]):
            total += values[i]
        if more is not None:
            values[0] += 1.0
        return total

    helper = kernel(add_up, allocates=inner)

    def fill(table: FloatArray, pair: Pair) -> float:
        now, after = table[0], pair.values
        total = 0.0
        for i in range(1, table.shape[0]):
            total += helper(table[i, ::2]) + helper(table[:, i], more=now)
            now, after = after, now
            both = (now, after[1:])
            total += helper(both[1])
        return total

    caller = kernel(fill, allocates=outer)
    table, pair = np.arange(36.0).reshape(6, 6), Pair(np.ones(6), 1)
    by_python = fill(table.copy(), Pair(np.ones(6), 1))
    assert caller(table.copy(), Pair(np.ones(6), 1)) == by_python
    references = sys.getrefcount(table), sys.getrefcount(pair.values)
    assert left_behind(lambda: caller(table, pair)) == 0
    assert references == (sys.getrefcount(table), sys.getrefcount(pair.values))


@pytest.mark.usefixtures("counted")
def test_an_allocating_kernel_keeps_what_a_borrowing_one_fills() -> None:
    def fill(values: FloatArray) -> None:
        for i in range(values.size):
            values[i] = i

    filled = kernel(fill)

    def rows(count: int) -> tuple[FloatArray, FloatArray]:
        table = np.empty((count, count))
        spare = np.empty(count)
        for row in range(count):
            filled(table[row])
        filled(spare)
        return table[count - 1], spare[1:]

    made = kernel(rows, allocates=True)
    last, rest = made(5)
    gc.collect()
    for _ in range(CALLS):
        made(5)  # would write into what was freed
    assert last.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert rest.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert left_behind(lambda: made(5)) == 0
