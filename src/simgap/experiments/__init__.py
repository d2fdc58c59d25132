"""Every claim of the paper as an experiment with a verdict."""

from simgap.experiments.catalogue import claim_names, named_claims
from simgap.experiments.framework.claim import Claim, Scale
from simgap.experiments.reproduce import reproduce, run_claim

__all__ = [
    "Claim",
    "Scale",
    "claim_names",
    "named_claims",
    "reproduce",
    "run_claim",
]
