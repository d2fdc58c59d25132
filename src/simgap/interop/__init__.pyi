from simgap.interop.files import (
    READABLE as READABLE,
)
from simgap.interop.files import (
    WRITABLE as WRITABLE,
)
from simgap.interop.files import (
    load_model as load_model,
)
from simgap.interop.files import (
    looks_like_file as looks_like_file,
)
from simgap.interop.files import (
    save_model as save_model,
)
from simgap.interop.log_text import (
    HEADER as HEADER,
)
from simgap.interop.policy_file import (
    SPARE as SPARE,
)
from simgap.interop.policy_file import (
    StoredPolicy as StoredPolicy,
)
from simgap.interop.policy_file import (
    read_policy as read_policy,
)
from simgap.interop.policy_file import (
    save_policy as save_policy,
)
from simgap.interop.transition_log import (
    StateSpace as StateSpace,
)
from simgap.interop.transition_log import (
    TransitionLog as TransitionLog,
)
from simgap.interop.transition_log import (
    check_log_range as check_log_range,
)
from simgap.interop.transition_log import (
    counts_of_log as counts_of_log,
)
from simgap.interop.transition_log import (
    read_transition_log as read_transition_log,
)
