"""Rows of 16 numbers held in vector registers: the inner step of the wide sweeps.

Numba keeps small arrays in memory, which costs these loops a factor of three to five.
Here the inner steps are written once as LLVM vector code: one row times a block of
vectors, then the best action. LLVM splits the 16 lanes into whatever registers the
machine has (four AVX2 registers, two AVX-512 ones), so nothing here names a processor.
Every function has a plain twin in `tests/reference/lanes.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_INT64 = ir.IntType(64)
_FUSED = ("contract",)  # a * b + c may be rounded once instead of twice


@intrinsic  # type: ignore[untyped-decorator]
def travel_step(
    typing_context: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    first_row: Any,
    n_rows: Any,
    block: Any,
    state: Any,
    scale: Any,
    out: Any,
    low: Any,
    high: Any,
    peak: Any,
) -> tuple[Any, Callable[..., Any]]:
    """For one state and 16 targets: out[state] = 1 + scale * min_a P block.

    `low`, `high` and `peak` collect the least and greatest change against
    scale * block[state], and the greatest scale * block[state].
    """
    signature = types.void(
        indptr,
        indices,
        values,
        first_row,
        n_rows,
        block,
        state,
        scale,
        out,
        low,
        high,
        peak,
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, sig, args)
        best = emit.best_row(
            block_at=5,
            lanes_of_values=False,
            start=ir.Constant(_DOUBLE, 0.0),
            least=True,
        )
        factor = emit.load_row(7, emit.zero)
        now = builder.fmul(emit.load_row(5, args[6]), factor)
        after = builder.fadd(
            emit.splat(ir.Constant(_DOUBLE, 1.0)),
            builder.fmul(best, factor, flags=_FUSED),
            flags=_FUSED,
        )
        emit.store_row(8, args[6], after)
        change = builder.fsub(after, now)
        emit.store_row(9, emit.zero, emit.least(emit.load_row(9, emit.zero), change))
        emit.store_row(10, emit.zero, emit.most(emit.load_row(10, emit.zero), change))
        emit.store_row(11, emit.zero, emit.most(emit.load_row(11, emit.zero), now))
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def light_travel_step(
    typing_context: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    first_row: Any,
    n_rows: Any,
    block: Any,
    state: Any,
    out: Any,
) -> tuple[Any, Callable[..., Any]]:
    """For one state and 16 targets: out[state] = min_a 1 + P block, and no more."""
    signature = types.void(
        indptr, indices, values, first_row, n_rows, block, state, out
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, sig, args)
        best = emit.best_row(
            block_at=5,
            lanes_of_values=False,
            start=ir.Constant(_DOUBLE, 1.0),
            least=True,
        )
        emit.store_row(7, args[6], best)
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def ordered_travel_step(
    typing_context: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    first_row: Any,
    n_rows: Any,
    block: Any,
    state: Any,
    inverse: Any,
) -> tuple[Any, Callable[..., Any]]:
    """For one state and 16 targets, in place: block = min_a (1 + P block) inverse.

    The kernel has no diagonal; inverse[row] is 1 / (chance to leave), inf if none.
    """
    signature = types.void(
        indptr, indices, values, first_row, n_rows, block, state, inverse
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, sig, args)
        best = emit.best_row(
            block_at=5,
            lanes_of_values=False,
            start=ir.Constant(_DOUBLE, 1.0),
            least=True,
            factor_at=7,
        )
        emit.store_row(5, args[6], best)
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def value_step(
    typing_context: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    first_row: Any,
    n_rows: Any,
    block: Any,
    state: Any,
    rewards: Any,
    out: Any,
) -> tuple[Any, Callable[..., Any]]:
    """For one state of 16 models: out[state] = max_a rewards + P block by lanes."""
    signature = types.void(
        indptr, indices, values, first_row, n_rows, block, state, rewards, out
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, sig, args)
        best = emit.best_row(block_at=5, lanes_of_values=True, start=7, least=False)
        emit.store_row(8, args[6], best)
        return context.get_dummy_value()

    return signature, generate


@intrinsic  # type: ignore[untyped-decorator]
def gain_step(
    typing_context: Any,
    indptr: Any,
    indices: Any,
    values: Any,
    first_row: Any,
    n_rows: Any,
    block: Any,
    state: Any,
    rewards: Any,
    out: Any,
    step: Any,
    shift: Any,
    low: Any,
    high: Any,
    peak: Any,
) -> tuple[Any, Callable[..., Any]]:
    """For one state of 16 models: out = h + step (max_a R + P h - h - shift).

    `low` and `high` collect the extremes of max_a R + P h - h, `peak` those of |h|.
    """
    signature = types.void(
        indptr,
        indices,
        values,
        first_row,
        n_rows,
        block,
        state,
        rewards,
        out,
        step,
        shift,
        low,
        high,
        peak,
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, sig, args)
        best = emit.best_row(block_at=5, lanes_of_values=True, start=7, least=False)
        now = emit.load_row(5, args[6])
        change = builder.fsub(best, now)
        excess = builder.fsub(change, emit.load_row(10, emit.zero))
        moved = builder.fmul(emit.splat(args[9]), excess)
        emit.store_row(8, args[6], builder.fadd(now, moved))
        size = emit.most(now, builder.fneg(now))
        emit.store_row(11, emit.zero, emit.least(emit.load_row(11, emit.zero), change))
        emit.store_row(12, emit.zero, emit.most(emit.load_row(12, emit.zero), change))
        emit.store_row(13, emit.zero, emit.most(emit.load_row(13, emit.zero), size))
        return context.get_dummy_value()

    return signature, generate


class _Emitter:
    """Writes the vector code; arguments 0-4 are indptr, indices, values, row, rows."""

    def __init__(self, context: Any, builder: Any, sig: Any, args: Any) -> None:
        self._builder = builder
        self._args = args
        self._arrays = {
            at: context.make_array(kind)(context, builder, args[at])
            for at, kind in enumerate(sig.args)
            if isinstance(kind, types.Array)
        }
        self.zero = ir.Constant(_INT64, 0)

    def best_row(
        self,
        *,
        block_at: int,
        lanes_of_values: bool,
        start: Any,
        least: bool,
        factor_at: int | None = None,
    ) -> Any:
        """Return the best over the rows of one state of (start + values @ block).

        `start` is a constant or the argument that holds a row of 16 for each row;
        `factor_at` an argument with one factor per row.
        """
        builder, one = self._builder, ir.Constant(_INT64, 1)
        extreme = self.splat(ir.Constant(_DOUBLE, float("inf" if least else "-inf")))
        best = cgutils.alloca_once(builder, _VECTOR)
        builder.store(extreme, best)
        first = self._args[3]
        last = builder.add(first, self._args[4])
        with cgutils.for_range_slice(builder, first, last, one, intp=_INT64) as (
            row,
            _,
        ):
            begin = self._scalar(0, row)
            end = self._scalar(0, builder.add(row, one))
            total = cgutils.alloca_once(builder, _VECTOR)
            initial = (
                self.load_row(start, row)
                if isinstance(start, int)
                else self.splat(start)
            )
            builder.store(initial, total)
            with cgutils.for_range_slice(builder, begin, end, one, intp=_INT64) as (
                k,
                _,
            ):
                successor = builder.sext(self._scalar(1, k), _INT64)
                weight = (
                    self.load_row(2, k)
                    if lanes_of_values
                    else self.splat(self._scalar(2, k))
                )
                term = builder.fmul(
                    weight, self.load_row(block_at, successor), flags=_FUSED
                )
                builder.store(
                    builder.fadd(builder.load(total), term, flags=_FUSED), total
                )
            choose = self.least if least else self.most
            finished = builder.load(total)
            if factor_at is not None:
                factor = self.splat(self._scalar(factor_at, row))
                finished = builder.fmul(finished, factor)
            builder.store(choose(builder.load(best), finished), best)
        return builder.load(best)

    def splat(self, scalar: Any) -> Any:
        builder, nothing = self._builder, ir.Constant(_VECTOR, ir.Undefined)
        index = ir.Constant(ir.IntType(32), 0)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        single = builder.insert_element(nothing, scalar, index)
        return builder.shuffle_vector(single, nothing, mask)

    def load_row(self, argument: int, row: Any) -> Any:
        return self._builder.load(self._row_pointer(argument, row), align=8)

    def store_row(self, argument: int, row: Any, vector: Any) -> None:
        self._builder.store(vector, self._row_pointer(argument, row), align=8)

    def least(self, left: Any, right: Any) -> Any:
        return self._pick("llvm.minnum", left, right)

    def most(self, left: Any, right: Any) -> Any:
        return self._pick("llvm.maxnum", left, right)

    def _pick(self, name: str, left: Any, right: Any) -> Any:
        # A compare and select would become a masked store, slow on some processors.
        kind = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR])
        function = cgutils.get_or_insert_function(
            self._builder.module, kind, f"{name}.v{LANES}f64"
        )
        return self._builder.call(function, [left, right], fastmath=("nnan",))

    def _scalar(self, argument: int, at: Any) -> Any:
        builder = self._builder
        return builder.load(builder.gep(self._arrays[argument].data, [at]))

    def _row_pointer(self, argument: int, row: Any) -> Any:
        builder = self._builder
        offset = builder.mul(row, ir.Constant(_INT64, LANES))
        first = builder.gep(self._arrays[argument].data, [offset])
        return builder.bitcast(first, _VECTOR.as_pointer())
