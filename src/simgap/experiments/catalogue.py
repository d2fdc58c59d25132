"""The one table of claims: what the command line calls them, and where they live.

Modules are imported when a claim is asked for, so that naming one costs nothing and a
module that does not import takes no other claim with it. Nothing registers itself; a
test finds every module with a claim and looks for it here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from simgap.errors import InvalidArgument
from simgap.experiments.framework.claim import Claim
from simgap.text import suggestion

CLAIMS: tuple[tuple[str, str], ...] = (
    ("theorem-1", "theorems.theorem_1_separated"),
    ("theorem-2", "theorems.theorem_2_finite"),
    ("theorem-3", "theorems.theorem_3_lower_bound"),
    ("theorem-4", "theorems.theorem_4_corrected"),
    ("theorem-4-printed", "printed.theorem_4_printed"),
    ("theorem-5", "theorems.theorem_5_elimination"),
    ("theorem-6", "theorems.theorem_6_optimistic"),
    ("theorem-7", "theorems.theorem_7_general"),
    ("bandit-lower-bound", "theorems.bandit_lower_bound"),
    ("proposition-1", "propositions.proposition_1_no_diameter"),
    ("proposition-2", "propositions.proposition_2_large_class"),
    ("lemma-1-finite", "lemmas.lemma_1_finite"),
    ("lemma-1-infinite-literal", "printed.lemma_1_infinite_literal"),
    ("lemma-1-infinite-corrected", "lemmas.lemma_1_infinite_corrected"),
    ("lemma-2", "lemmas.lemma_2_average_reward"),
    ("lemma-5", "lemmas.lemma_5_likelihood_ratio"),
    ("lemma-6", "lemmas.lemma_6_entropy"),
    ("lemma-7", "lemmas.lemma_7_stage_one"),
    ("lemma-8", "lemmas.lemma_8_optimism"),
    ("lemma-9", "lemmas.lemma_9_switches"),
    ("delta-squared", "remarks.delta_squared"),
    ("smoothness-universal", "remarks.smoothness_universal"),
    ("eluder-remark", "remarks.eluder_remark"),
    ("algorithm-1-printed", "printed.algorithm_1_printed"),
    ("algorithm-3-printed", "printed.algorithm_3_printed"),
    ("algorithm-4-printed", "printed.algorithm_4_printed"),
    ("improved-agents", "remarks.improved_agents"),
    ("memory-matters", "remarks.memory_matters"),
    ("randomization-matters", "remarks.randomization_matters"),
    ("control", "remarks.control"),
)  # (name, module of this room): theorems, propositions, lemmas, remarks, algorithms


def claim_names() -> tuple[str, ...]:
    """Return every name, without importing a claim."""
    return tuple(name for name, _ in CLAIMS)


def named_claims(names: tuple[str, ...]) -> tuple[Claim[Any], ...]:
    """Return the claims of some names, each once; all of them if none is given."""
    homes = dict(CLAIMS)
    for name in names:
        if name not in homes:
            raise _unknown(name)
    wanted = dict.fromkeys(names) if names else homes
    return tuple(_imported(name, homes[name]) for name in wanted)


def _imported(name: str, home: str) -> Claim[Any]:
    found = import_module(f"simgap.experiments.{home}").CLAIM
    if not isinstance(found, Claim) or found.name != name:
        raise AssertionError(f"{home} does not hold the claim {name!r}: a defect")
    return found


def _unknown(name: str) -> InvalidArgument:
    known = claim_names()
    return InvalidArgument(
        f"there is no claim {name[:40]!r}",
        hint=f"{suggestion(name, known)} claims: {', '.join(known)}".strip(),
    )
