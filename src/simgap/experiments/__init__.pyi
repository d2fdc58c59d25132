from simgap.experiments.catalogue import (
    claim_names as claim_names,
    named_claims as named_claims,
)
from simgap.experiments.framework.claim import (
    Claim as Claim,
    KeyNumber as KeyNumber,
    Scale as Scale,
)
from simgap.experiments.framework.record import (
    claim_path as claim_path,
    claim_record as claim_record,
    finished_claim as finished_claim,
    save_claim as save_claim,
)
