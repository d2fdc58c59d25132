from simgap.experiments.catalogue import (
    claim_names as claim_names,
    named_claims as named_claims,
)
from simgap.experiments.framework.claim import (
    Claim as Claim,
    Scale as Scale,
)
from simgap.experiments.reproduce import (
    reproduce as reproduce,
    run_claim as run_claim,
)
