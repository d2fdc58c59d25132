"""What records call their numbers, in words: for the table of how sure a page is."""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, Mapping[str, str]] = {
    "": {  # the same in records of every kind
        "at_stake": "what random actions lose",
        "average_gap": "average loss of the best agent",
        "memoryless_gap": "average loss without memory",
        "value_of_randomization": "value of training on all models",
        "optimal": "value if told the model",
        "pair_prices": "price of every pair",
        "estimated_gap": "average loss of the policy to run",
        "steps": "steps to tell models apart",
        "least_possible": "average loss of the best agent",
    },
    "audit": {
        "communicating": "whether every state can be reached from every other",
        "everywhere": "whether the loss is acceptable in every model",
        "theorem": "bound of the theorem",
        "relative_gap": "average loss as a part of what random actions lose",
        "worst": "largest loss of the planned policy",
    },
    "oracle": {
        "lower": "value of the best agent",
        "upper": "value of the best agent",
        "value": "value in every model",
        "gap": "loss in every model",
        "worst_gap": "largest loss of the planned policy",
        "gap_interval": "loss of any optimal policy",
    },
    "gap": {"by_horizon": "losses at growing horizons"},
    "blame": {
        "whole": "average loss of the best agent",
        "share": "share of every parameter",
        "part": "share as a part of the whole",
        "alone": "loss if only one parameter is hidden",
        "information": "what telling a parameter is worth",
        "ignored": "shares of the nominal plan's loss",
        "ignored_whole": "average loss of the nominal plan",
        "told": "loss at one value, told",
        "loss": "loss at one value, not told",
    },
    "width": {
        "gap": "average loss of every range",
        "worst": "its loss in the worst model",
        "inside": "average inside the range",
        "outside": "average outside the range",
        "gaps": "loss of every range in every model",
        "at_nominal": "loss where the parameter is nominal",
        "beyond": "loss by distance beyond the range",
    },
    "identify": {
        "distance": "how far two models differ",
        "visits": "visits needed",
        "timeline": "posterior over time",
    },
    "transfer": {
        "policies": "returns and losses of every policy",
        "parameters": "share of every parameter in the variance of the loss",
        "pairs": "share of every pair",
        "maps": "maps of the loss",
        "episodes": "how many episodes were run",
        "steps": "how many steps were run",
        "failures": "episodes that broke",
    },
    "blame_run": {
        "total": "what knowing everything is worth",
        "parameters": "share of every parameter",
        "sets": "mean return with every set told",
        "checks": "the policy beside others",
        "episodes": "how many episodes were run",
        "steps": "how many steps were run",
    },
    "identify_run": {
        "losses": "what is lost at every step",
        "total": "what is lost in an episode",
        "settled": "from which step on nothing is lost",
        "parameters": "how well parameters can be read from the memory",
        "worlds": "how many worlds were drawn",
        "steps": "how many steps were run",
    },
    "width_run": {
        "widths": "returns of every width",
        "random": "mean return of random actions",
        "at_stake": "what there is to gain over random actions",
        "episodes": "how many episodes were run",
        "measured_steps": "how many steps were measured",
        "training_steps": "how many steps were trained",
    },
    "check": {"checks": "what every check found"},
    "adapt": {
        "p_value": "p-values",
        "parameters": "mean and spread of parameters",
        "gap_bound_before": "average loss before the data",
        "gap_bound_after": "average loss after the data",
    },
}
LOSSES = frozenset(  # summed up in floating point: see `shown_number.evaluated`
    ("at_stake", "worst", "worst_gap", "gap", "loss", "ignored_whole")
)


def name_of(key: str, kind: str) -> str:
    """Return what a number of a record is called on the page."""
    own = NAMES.get(kind, {})
    return own.get(key, NAMES[""].get(key, key.replace("_", " ")))
