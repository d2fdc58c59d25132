"""Files in and out: models in simgap's own format and numpy's, logs as CSV."""

from simgap.interop.files import (
    READABLE,
    WRITABLE,
    load_model,
    looks_like_file,
    save_model,
)
from simgap.interop.log_text import HEADER
from simgap.interop.policy_file import SPARE, StoredPolicy, read_policy, save_policy
from simgap.interop.sealed import FileKind, read_sealed, write_sealed
from simgap.interop.sizes import SizeLimit
from simgap.interop.transition_log import (
    StateSpace,
    TransitionLog,
    check_log_range,
    counts_of_log,
    read_transition_log,
)

__all__ = [
    "HEADER",
    "READABLE",
    "SPARE",
    "WRITABLE",
    "FileKind",
    "SizeLimit",
    "StateSpace",
    "StoredPolicy",
    "TransitionLog",
    "check_log_range",
    "counts_of_log",
    "load_model",
    "looks_like_file",
    "read_policy",
    "read_sealed",
    "read_transition_log",
    "save_model",
    "save_policy",
    "write_sealed",
]
