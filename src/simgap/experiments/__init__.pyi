from simgap.experiments.catalogue import (
    claim_names as claim_names,
)
from simgap.experiments.catalogue import (
    named_claims as named_claims,
)
from simgap.experiments.framework.claim import (
    Claim as Claim,
)
from simgap.experiments.framework.claim import (
    KeyNumber as KeyNumber,
)
from simgap.experiments.framework.claim import (
    Scale as Scale,
)
from simgap.experiments.framework.record import (
    claim_path as claim_path,
)
from simgap.experiments.framework.record import (
    claim_record as claim_record,
)
from simgap.experiments.framework.record import (
    finished_claim as finished_claim,
)
from simgap.experiments.framework.record import (
    save_claim as save_claim,
)
