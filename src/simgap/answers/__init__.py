"""Answers for people who randomize a simulator: will it transfer, why not, what now."""

from simgap.answers.adapt import Adaptation, AdaptSettings, adapt
from simgap.answers.adapt_evidence import RewardEvidence
from simgap.answers.audit import Audit, audit
from simgap.answers.blame import Blame, BlameSettings, blame
from simgap.answers.goodness_of_fit import goodness_of_fit
from simgap.answers.identify import Identification, IdentifySettings, identify
from simgap.answers.over_horizons import OverHorizons, over_horizons, usual_horizons
from simgap.answers.posterior_timeline import Timeline, posterior_timeline
from simgap.answers.refine import Ladder, RefineSettings, refine
from simgap.answers.stakes import Stakes, stakes
from simgap.answers.telling_apart import TellingApart, telling_apart
from simgap.answers.verdict import Verdict
from simgap.answers.width import Criterion, WidthCurve, WidthSettings, width_curve

__all__ = [
    "AdaptSettings",
    "Adaptation",
    "Audit",
    "Blame",
    "BlameSettings",
    "Criterion",
    "Identification",
    "IdentifySettings",
    "Ladder",
    "OverHorizons",
    "RefineSettings",
    "RewardEvidence",
    "Stakes",
    "TellingApart",
    "Timeline",
    "Verdict",
    "WidthCurve",
    "WidthSettings",
    "adapt",
    "audit",
    "blame",
    "goodness_of_fit",
    "identify",
    "over_horizons",
    "posterior_timeline",
    "refine",
    "stakes",
    "telling_apart",
    "usual_horizons",
    "width_curve",
]
