"""Rows of 16 numbers held in vector registers: the inner step of the wide sweeps.

Numba keeps small arrays in memory, which costs these loops a factor of three to five.
Here the inner steps are written once as LLVM vector code: one row times a block of
vectors, then the best action. LLVM splits the 16 lanes into whatever registers the
machine has (four AVX2 registers, two AVX-512 ones), so nothing here names a processor.
Every function has a plain twin in `tests/reference/lanes.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
COMMON = ("indptr", "indices", "values", "first_row", "n_rows", "block", "state")

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INT64 = ir.IntType(64)
_FUSED = ("contract",)  # a * b + c may be rounded once instead of twice


def _vector_step(
    *more: str,
) -> Callable[[Callable[[_Emitter], None]], Callable[..., None]]:
    """Make a function for kernels of the vector code that an emitter writes.

    It is called with the arguments COMMON and those named here.
    """
    names = (*COMMON, *more)

    def made(write: Callable[[_Emitter], None]) -> Callable[..., None]:
        def typed(typing_context: Any, *kinds: Any) -> tuple[Any, Callable[..., Any]]:
            def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
                named = dict(zip(names, args, strict=True))
                write(_Emitter(context, builder, sig, named))
                return context.get_dummy_value()

            return types.void(*kinds), generate

        typed.__name__ = write.__name__
        typed.__signature__ = Signature(  # type: ignore[attr-defined]
            [
                Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)
                for name in ("typing_context", *names)
            ]
        )
        step: Callable[..., None] = intrinsic(typed)
        return step

    return made


@_vector_step("scale", "out", "low", "high", "peak")
def travel_step(emit: _Emitter) -> None:
    """For one state and 16 targets: out[state] = 1 + scale * min_a P block.

    `low`, `high` and `peak` collect the least and greatest change against
    scale * block[state], and the greatest scale * block[state].
    """
    factor = emit.load_row("scale", emit.zero)
    best = emit.best_row(start=ir.Constant(_DOUBLE, 0.0), least=True)
    now = emit.builder.fmul(emit.load_row("block", emit.state), factor)
    after = emit.builder.fadd(
        emit.splat(ir.Constant(_DOUBLE, 1.0)),
        emit.builder.fmul(best, factor, flags=_FUSED),
        flags=_FUSED,
    )
    emit.store_row("out", emit.state, after)
    emit.collect(change=emit.builder.fsub(after, now), size=now)


@_vector_step("out")
def light_travel_step(emit: _Emitter) -> None:
    """For one state and 16 targets: out[state] = min_a 1 + P block, and no more."""
    best = emit.best_row(start=ir.Constant(_DOUBLE, 1.0), least=True)
    emit.store_row("out", emit.state, best)


@_vector_step("inverse")
def ordered_travel_step(emit: _Emitter) -> None:
    """For one state and 16 targets, in place: block = min_a (1 + P block) inverse.

    The kernel has no diagonal; inverse[row] is 1 / (chance to leave), inf if none.
    """
    one = ir.Constant(_DOUBLE, 1.0)
    best = emit.best_row(start=one, least=True, factor="inverse")
    emit.store_row("block", emit.state, best)


@_vector_step("rewards", "out")
def value_step(emit: _Emitter) -> None:
    """For one state of 16 models: out[state] = max_a rewards + P block by lanes."""
    best = emit.best_row(start="rewards", least=False, lanes_of_values=True)
    emit.store_row("out", emit.state, best)


@_vector_step("rewards", "out", "step", "shift", "low", "high", "peak")
def gain_step(emit: _Emitter) -> None:
    """For one state of 16 models: out = h + step (max_a R + P h - h - shift).

    `low` and `high` collect the extremes of max_a R + P h - h, `peak` those of |h|.
    """
    best = emit.best_row(start="rewards", least=False, lanes_of_values=True)
    now = emit.load_row("block", emit.state)
    change = emit.builder.fsub(best, now)
    excess = emit.builder.fsub(change, emit.load_row("shift", emit.zero))
    moved = emit.builder.fmul(emit.splat(emit.arguments["step"]), excess)
    emit.store_row("out", emit.state, emit.builder.fadd(now, moved))
    emit.collect(change=change, size=emit.size(now))


@_vector_step("rewards", "out")
def gathered_value_step(emit: _Emitter) -> None:
    """For 16 states of one model: out[state] = max_a rewards + P block.

    Here and below `state` is a block of 16, rows of the model are wide (`state_lanes`),
    and `indices` are (nnz, 16): each lane reads the block where its own row leads.
    """
    best = emit.nothing_best()
    with emit.rows() as row:
        emit.improve(best, emit.gathered_row(row))
    emit.store_row("out", emit.state, emit.builder.load(best))


@_vector_step("rewards", "totals", "out", "low", "high", "peak")
def gathered_gain_step(emit: _Emitter) -> None:
    """The same for h: totals[row] = R + P h as well, and what h's change is.

    `low` and `high` collect the extremes of max_a R + P h - h, `peak` those of |h| and
    of |max_a R + P h|.
    """
    best = emit.nothing_best()
    with emit.rows() as row:
        total = emit.gathered_row(row)
        emit.store_row("totals", row, total)
        emit.improve(best, total)
    top, here = emit.builder.load(best), emit.load_row("block", emit.state)
    emit.store_row("out", emit.state, top)
    size = emit.most(emit.size(here), emit.size(top))
    emit.collect(change=emit.builder.fsub(top, here), size=size)


@_vector_step("rewards", "step", "out")
def gathered_policy_step(emit: _Emitter) -> None:
    """For 16 states with one row each: out = h + step (R + P h - h)."""
    builder, here = emit.builder, emit.load_row("block", emit.state)
    with emit.rows() as row:
        change = builder.fsub(emit.gathered_row(row), here)
        step = emit.splat(emit.arguments["step"])
        moved = builder.fmul(step, change, flags=_FUSED)
        emit.store_row("out", emit.state, builder.fadd(here, moved, flags=_FUSED))


class _Emitter:
    """Writes the vector code of one state; arguments have names."""

    def __init__(
        self, context: Any, builder: Any, sig: Any, arguments: dict[str, Any]
    ) -> None:
        self.builder = builder
        self.arguments = arguments
        self.state = arguments["state"]
        self.zero = ir.Constant(_INT64, 0)
        self._arrays = {
            name: context.make_array(kind)(context, builder, value)
            for (name, value), kind in zip(arguments.items(), sig.args, strict=True)
            if isinstance(kind, types.Array)
        }

    def best_row(
        self,
        *,
        start: Any,
        least: bool,
        lanes_of_values: bool = False,
        factor: str | None = None,
    ) -> Any:
        """Return the best over the rows of one state of (start + values @ block).

        `start` is a constant or names the argument that holds 16 numbers for each row;
        `factor` names an argument with one factor per row.
        """
        builder, one = self.builder, ir.Constant(_INT64, 1)
        extreme = self.splat(ir.Constant(_DOUBLE, float("inf" if least else "-inf")))
        best = cgutils.alloca_once(builder, _VECTOR)
        builder.store(extreme, best)
        with self.rows() as row:
            begin, end = self._entries(row)
            total = cgutils.alloca_once(builder, _VECTOR)
            initial = (
                self.load_row(start, row)
                if isinstance(start, str)
                else self.splat(start)
            )
            builder.store(initial, total)
            entries = cgutils.for_range_slice(builder, begin, end, one, intp=_INT64)
            with entries as (k, _):
                successor = builder.sext(self._scalar("indices", k), _INT64)
                weight = (
                    self.load_row("values", k)
                    if lanes_of_values
                    else self.splat(self._scalar("values", k))
                )
                term = builder.fmul(
                    weight, self.load_row("block", successor), flags=_FUSED
                )
                builder.store(
                    builder.fadd(builder.load(total), term, flags=_FUSED), total
                )
            choose = self.least if least else self.most
            finished = builder.load(total)
            if factor is not None:
                each = self.splat(self._scalar(factor, row))
                finished = builder.fmul(finished, each)
            builder.store(choose(builder.load(best), finished), best)
        return builder.load(best)

    def gathered_row(self, row: Any) -> Any:
        """Return rewards[row] + values @ block[indices] for 16 states at once.

        Every other entry is added to a second sum, as in `row_sum`: equal to the bit.
        """
        builder = self.builder
        begin, end = self._entries(row)
        totals = [cgutils.alloca_once(builder, _VECTOR) for _ in range(2)]
        builder.store(self.load_row("rewards", row), totals[0])
        builder.store(self.splat(ir.Constant(_DOUBLE, 0.0)), totals[1])

        def add(entry: Any, total: Any) -> None:
            block = self._gathered("block", entry)
            term = builder.fmul(self.load_row("values", entry), block, flags=_FUSED)
            builder.store(builder.fadd(builder.load(total), term, flags=_FUSED), total)

        one, two = ir.Constant(_INT64, 1), ir.Constant(_INT64, 2)
        odd = builder.and_(builder.sub(end, begin), one)
        even = builder.sub(end, odd)
        pairs = cgutils.for_range_slice(builder, begin, even, two, intp=_INT64)
        with pairs as (entry, _):
            add(entry, totals[0])
            add(builder.add(entry, one), totals[1])
        with builder.if_then(builder.trunc(odd, ir.IntType(1))):
            add(even, totals[0])
        return builder.fadd(builder.load(totals[0]), builder.load(totals[1]))

    def nothing_best(self) -> Any:
        """Return a place for the greatest of vectors, none of them there yet."""
        best = cgutils.alloca_once(self.builder, _VECTOR)
        self.builder.store(self.splat(ir.Constant(_DOUBLE, float("-inf"))), best)
        return best

    def improve(self, best: Any, vector: Any) -> None:
        self.builder.store(self.most(self.builder.load(best), vector), best)

    @contextmanager
    def rows(self) -> Iterator[Any]:
        """Loop over the rows of one state."""
        builder = self.builder
        first = self.arguments["first_row"]
        last = builder.add(first, self.arguments["n_rows"])
        one = ir.Constant(_INT64, 1)
        rows = cgutils.for_range_slice(builder, first, last, one, intp=_INT64)
        with rows as (row, _):
            yield row

    def size(self, vector: Any) -> Any:
        return self.most(vector, self.builder.fneg(vector))

    def collect(self, *, change: Any, size: Any) -> None:
        """Keep the least and greatest change and the greatest size, by lanes."""
        for name, pick, found in (
            ("low", self.least, change),
            ("high", self.most, change),
            ("peak", self.most, size),
        ):
            kept = self.load_row(name, self.zero)
            self.store_row(name, self.zero, pick(kept, found))

    def splat(self, scalar: Any) -> Any:
        builder, nothing = self.builder, ir.Constant(_VECTOR, ir.Undefined)
        index = ir.Constant(ir.IntType(32), 0)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        single = builder.insert_element(nothing, scalar, index)
        return builder.shuffle_vector(single, nothing, mask)

    def load_row(self, argument: str, row: Any) -> Any:
        return self.builder.load(self._row_pointer(argument, row), align=8)

    def store_row(self, argument: str, row: Any, vector: Any) -> None:
        self.builder.store(vector, self._row_pointer(argument, row), align=8)

    def least(self, left: Any, right: Any) -> Any:
        return self._pick("llvm.minnum", left, right)

    def most(self, left: Any, right: Any) -> Any:
        return self._pick("llvm.maxnum", left, right)

    def _pick(self, name: str, left: Any, right: Any) -> Any:
        # A compare and select would become a masked store, slow on some processors.
        kind = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR])
        function = cgutils.get_or_insert_function(
            self.builder.module, kind, f"{name}.v{LANES}f64"
        )
        return self.builder.call(function, [left, right], fastmath=("nnan",))

    def _entries(self, row: Any) -> tuple[Any, Any]:
        """Return where the entries of a row begin and end."""
        after = self.builder.add(row, ir.Constant(_INT64, 1))
        return self._scalar("indptr", row), self._scalar("indptr", after)

    def _gathered(self, argument: str, entry: Any) -> Any:
        """Return 16 numbers of an argument, those that an entry's lanes lead to."""
        builder, vector = self.builder, ir.Constant(_VECTOR, ir.Undefined)
        first = builder.mul(entry, ir.Constant(_INT64, LANES))
        for lane in range(LANES):  # a gather instruction is slower
            at = self._scalar("indices", builder.add(first, ir.Constant(_INT64, lane)))
            number = self._scalar(argument, builder.sext(at, _INT64))
            place = ir.Constant(ir.IntType(32), lane)
            vector = builder.insert_element(vector, number, place)
        return vector

    def _scalar(self, argument: str, at: Any) -> Any:
        builder = self.builder
        return builder.load(builder.gep(self._arrays[argument].data, [at]))

    def _row_pointer(self, argument: str, row: Any) -> Any:
        builder = self.builder
        offset = builder.mul(row, ir.Constant(_INT64, LANES))
        first = builder.gep(self._arrays[argument].data, [offset])
        return builder.bitcast(first, _VECTOR.as_pointer())
