"""Files in and out: models in simgap's own format and numpy's, logs as CSV."""

from simgap.interop.files import (
    READABLE,
    WRITABLE,
    load_model,
    looks_like_file,
    save_model,
)
from simgap.interop.transition_log import (
    StateSpace,
    TransitionLog,
    counts_of_log,
    read_transition_log,
)

__all__ = [
    "READABLE",
    "WRITABLE",
    "StateSpace",
    "TransitionLog",
    "counts_of_log",
    "load_model",
    "looks_like_file",
    "read_transition_log",
    "save_model",
]
