"""Kernels that count no references: the memory of all their arrays is borrowed.

Where numba counts references, it does so at every call and for every array, atomically:
a helper that is called in an inner loop costs ten times what it does. A kernel that
makes no array needs none of it, since its caller holds what it reads and writes. It
must then hand no array on as its own: its caller would give up a reference that was
never taken. Nor may it be handed one to own, which nobody would give up.
"""

from __future__ import annotations

from typing import Any

from numba.core import errors, ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.types.iterators import Generator

HINT = "write @kernel(allocates=True)"
NOT_COUNTED = (  # numba's words for memory of its own
    "NRT required but not enabled",
    "Only accept returning of array passed into the function",
)


class BorrowingCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, which refuses memory that changes hands."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_OwnsNothing, NopythonTypeInference)
        pipeline.finalize()
        return [pipeline]


def allocation_error(name: str, error: BaseException) -> TypeError | None:
    """Return what to say if a kernel was not compiled because it makes memory."""
    refused = isinstance(error, errors.NumbaError)
    if refused and any(words in str(error) for words in NOT_COUNTED):
        return TypeError(_refusal(name))
    return None


@register_pass(mutates_CFG=False, analysis_only=True)
class _OwnsNothing(AnalysisPass):  # type: ignore[misc]
    _name = "owns_nothing"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Raise if the kernel returns memory, or calls what returns it."""
        name = state.func_id.func_name
        if _holds_memory(state, state.return_type):
            raise TypeError(_refusal(name))
        for expression, signature in state.calltypes.items():
            called = isinstance(expression, ir.Expr) and expression.op == "call"
            if called and _holds_memory(state, signature.return_type):
                where = f"{expression.loc.filename}:{expression.loc.line}"
                raise TypeError(
                    f"{name} calls what hands an array on ({where}): {HINT}"
                )
        return False


def _refusal(name: str) -> str:
    return f"{name} makes or returns an array: {HINT}"


def _holds_memory(state: Any, kind: Any) -> bool:
    if isinstance(kind, Generator):  # it keeps what it was called with
        return True
    model = state.targetctx.data_model_manager[kind]
    return bool(model.contains_nrt_meminfo())
