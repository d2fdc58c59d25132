from simgap.interop.files import (
    READABLE as READABLE,
    WRITABLE as WRITABLE,
    load_model as load_model,
    looks_like_file as looks_like_file,
    save_model as save_model,
)
from simgap.interop.log_text import (
    HEADER as HEADER,
)
from simgap.interop.policy_file import (
    SPARE as SPARE,
    StoredPolicy as StoredPolicy,
    read_policy as read_policy,
    save_policy as save_policy,
)
from simgap.interop.sealed import (
    FileKind as FileKind,
    read_sealed as read_sealed,
    write_sealed as write_sealed,
)
from simgap.interop.sizes import SizeLimit as SizeLimit
from simgap.interop.transition_log import (
    StateSpace as StateSpace,
    TransitionLog as TransitionLog,
    check_log_range as check_log_range,
    counts_of_log as counts_of_log,
    read_transition_log as read_transition_log,
)
