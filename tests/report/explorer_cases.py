"""Records as the verbs write them, for the tests of the page about a folder."""

from __future__ import annotations

import json
import re
from math import log, sqrt
from pathlib import Path
from typing import Any

from simgap.records.kept import write_record
from simgap.report.explorer import render_explorer
from simgap.report.folder import read_folder

VERSIONS = {"simgap": "0.1.0", "python": "3.12.4", "numpy": "2.1.0", "numba": "0.61.0"}
PROVENANCE = {
    "command": "simgap run likelihood 'riverswim?success=0.1:0.6:5' -H 1e5",
    "model": "riverswim?success=0.1:0.6:5",
    "model_hash": "7c1e09a2",
    "seed": 7,
    "simgap": "0.1.0",
    "python": "3.12.4",
    "numpy": "2.1.0",
    "grid": None,
}
HORIZONS = (64, 128, 256, 512, 1024, 2048)


def certified(lower: float, upper: float | None = None) -> dict[str, float]:
    return {"lower": lower, "upper": lower if upper is None else upper}


def estimate(middle: float, half: float) -> dict[str, Any]:
    return {
        "estimate": middle,
        "lower": middle - half,
        "upper": middle + half,
        "confidence": 0.95,
        "method": "t interval",
        "standard_error": half / 2.0,
        "guaranteed": None,
    }


def point(x: float, y: float, half: float = 0.0) -> dict[str, float]:
    return {"x": x, "y": y, "lower": y - half, "upper": y + half}


def curve(
    name: str, points: list[dict[str, float]], certainty: str, bound: bool = False
) -> dict[str, Any]:
    return {"name": name, "points": points, "certainty": certainty, "bound": bound}


def claim(name: str = "theorem-2", **changes: Any) -> dict[str, Any]:
    """A claim with two figures, a table, two checks and every kind of certainty."""
    return {
        "schema": 1,
        "kind": "claim",
        "claim": name,
        "title": "A finite class costs at most a root of the horizon",
        "statement": "If the real world is one of M known models and none of them has "
        "a trap, then domain randomization with memory loses at most of the order of "
        "the square root of the number of steps.",
        "source": "Theorem 2; Section 5.2",
        "errata": ["E17", "E29"],
        "expected": "holds",
        "verdict": "holds",
        "as_expected": True,
        "key_number": {"name": "growth exponent", "value": estimate(0.487, 0.021)},
        "summary": "The loss of Algorithm 3 grows like H to the power 0.487, and stays "
        "below its bound at every horizon.",
        "checks": [
            {
                "name": "the growth exponent is at most one half and its slack",
                "left": estimate(0.487, 0.021),
                "right": certified(0.55),
                "verdict": "holds",
            },
            {
                "name": "the oracle loses no more than the bound at H = 2048",
                "left": certified(61.25, 61.5),
                "right": certified(980.25),
                "verdict": "holds",
            },
        ],
        "figures": [
            {
                "title": "Gap against the horizon",
                "x": "horizon H",
                "y": "gap, in rewards",
                "curves": [
                    curve(
                        "oracle",
                        [point(h, 1.5 * sqrt(h), 0.05 * sqrt(h)) for h in HORIZONS],
                        "certified",
                    ),
                    curve(
                        "Algorithm 3",
                        [point(h, 4.0 * sqrt(h), 0.6 * sqrt(h)) for h in HORIZONS],
                        "estimated",
                    ),
                    curve(
                        "Theorem 2",
                        [point(h, 9.0 * sqrt(h * log(h))) for h in HORIZONS],
                        "exact",
                        bound=True,
                    ),
                    curve("H", [point(h, h) for h in HORIZONS], "exact", bound=True),
                ],
                "log_x": True,
                "log_y": True,
                "note": "A bound above the line H says nothing.",
                "marks": [[612.0, "from here on Theorem 2 says something"]],
            },
            {
                "title": "Candidates left over time",
                "x": "step",
                "y": "candidates",
                "curves": [
                    curve(
                        "optimistic",
                        [
                            point(t, 8.0 / (1.0 + t / 40.0), 0.4)
                            for t in range(0, 200, 5)
                        ],
                        "estimated",
                    )
                ],
                "log_x": False,
                "log_y": False,
                "note": "",
                "marks": [],
            },
        ],
        "tables": [
            {
                "title": "Loss by horizon",
                "columns": ["H", "oracle", "Algorithm 3", "bound", "verdict"],
                "rows": [
                    [h, 1.5 * sqrt(h), 4.0 * sqrt(h), 9.0 * sqrt(h * log(h)), "below"]
                    for h in HORIZONS
                ],
                "certainty": ["exact", "certified", "estimated", "exact", "exact"],
            }
        ],
        "scale": "quick",
        "seed": 0,
        "command": f"simgap reproduce {name} --quick --seed 0",
        "versions": VERSIONS,
    } | changes


def refuted(name: str = "lemma-6", **changes: Any) -> dict[str, Any]:
    """A claim that the paper has wrong, and that is expected to fail."""
    return claim(
        name,
        **{
            "title": "Log-likelihoods are sub-exponential with one constant for every "
            "pair of models, as the paper prints it",
            "statement": "The log-likelihood ratio has a bounded norm for every pair.",
            "source": "Lemma 6",
            "errata": ["E23"],
            "expected": "refuted",
            "verdict": "refuted",
            "key_number": {"name": "norm of a fair coin", "value": certified(2.5)},
            "summary": "A fair coin has norm 2.5 where at most 1 is claimed.",
            "checks": [
                {
                    "name": "the norm is at most 1",
                    "left": certified(2.5),
                    "right": certified(1.0),
                    "verdict": "refuted",
                }
            ],
            "figures": [],
            "tables": [],
        }
        | changes,
    )


def run(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap run --out`."""
    steps = sorted({int(10 ** (k / 8)) for k in range(41)})
    return {
        "schema": 1,
        "kind": "run",
        "policy": "likelihood",
        "about": "optimism, models dropped by likelihood ratio",
        "literal": False,
        "horizon": 100_000,
        "seeds": 50,
        "steps_per_second": 2.1e8,
        "steps_simulated": 10**9,
        "eliminates": True,
        "vacuity_horizon": None,
        "models": [
            {
                "name": name,
                "optimal": 61000.5 + at,
                "gap": estimate(40.0 * (at + 1), 3.0),
                "regret": estimate(41.0 * (at + 1), 3.0) if at else None,
                "truth_eliminated": at,
                "switches": 3.25,
                "resets": 0,
                "identified": 900.0 if at else None,
                "pathwise_ratio": 0.4,
                "variance_ratio": None,
                "curve": [
                    {
                        "step": t,
                        "estimate": (at + 1) * 0.8 * sqrt(t) - (0.9 if t < 3 else 0.0),
                        "lower": (at + 1) * 0.6 * sqrt(t) - 1.5,
                        "upper": (at + 1) * 1.0 * sqrt(t),
                    }
                    for t in steps
                ],
            }
            for at, name in enumerate(names)
        ],
        "notes": [
            {
                "code": "a-note",
                "text": "nothing is eliminated before H = 9e6, as printed",
            }
        ],
        "page": None,
        "certainty": {
            "gap": "estimated",
            "regret": "estimated",
            "truth_eliminated": "exact",
            "switches": "exact",
            "optimal": "certified",
            "curve": "estimated",
        },
        "provenance": PROVENANCE,
    } | changes


def gap(*names: str, policies: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    """A record of `simgap gap`."""
    chosen = policies or ("oracle", "likelihood", "memoryless", "random")
    size = len(names)
    return {
        "schema": 1,
        "kind": "gap",
        "horizon": 100,
        "policies": [
            {
                "name": policy,
                "about": f"what {policy} is",
                "certainty": "estimated" if row == 1 else "certified",
                "models": [
                    {
                        "name": name,
                        "gap": estimate(1.5 + row + at / size, 0.2)
                        if row == 1
                        else certified((row + at / size) * 4.0**row),
                    }
                    for at, name in enumerate(names)
                ],
                "average": estimate(2.0, 0.1)
                if row == 1
                else certified(0.5 + 4.0**row, 0.50001 + 4.0**row),
                "worst": certified(1.0 + 4.0**row),
            }
            for row, policy in enumerate(chosen)
        ],
        "left_out": {"ucrl2": "it needs a horizon of 1000 or more"},
        "names": list(names),
        "prior": [1.0 / size] * size,
        "optimal": [30.0 + at for at in range(size)],
        "rounding": 1e-13,
        "at_stake": 40.0,
        "memory": None,
        "value_of_memory": None,
        "value_of_randomization": None,
        "trained": None,
        "by_horizon": None,
        "certainty": {"optimal": "certified", "at_stake": "certified"},
        "notes": [],
        "provenance": PROVENANCE | {"command": "simgap gap riverswim -H 100"},
    } | changes


def oracle(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap oracle --json`."""
    size = len(names)
    prices = [[0.3 * abs(i - j) for j in range(size)] for i in range(size)]
    return {
        "schema": 1,
        "kind": "oracle",
        "horizon": 60,
        "discount": None,
        "lower": 23.5,
        "upper": 24.0,
        "informed": 25.6,
        "average_gap": certified(1.6, 2.1),
        "estimated_gap": estimate(1.62, 0.02),
        "notes": [],
        "worst_gap": 6.0625,
        "least_worst_gap": 6.0625,
        "memory": {
            "enough": "certified",
            "needed": "certified",
            "with_memory": certified(1.6, 2.1),
            "without_memory": certified(5.5, 5.5),
            "searched": 31,
            "stationary": False,
        },
        "outcome": "within tolerance",
        "solver": "bounded: 59654 beliefs",
        "models": [
            {
                "name": name,
                "prior": 1.0 / size,
                "optimal": 12.0 + 3.0 * at,
                "value": 10.5 + 3.0 * at,
                "gap": 1.5 if at else 1e-15,
                "relative_gap": 1.5 / (12.0 + 3.0 * at) if at else 1e-16,
                "gap_interval": certified(1.0, 2.25) if at else certified(0.0, 1e-15),
            }
            for at, name in enumerate(names)
        ],
        "pair_prices": {
            "lower": prices,
            "upper": prices,
            "models": list(range(len(names))),
        },
        "nodes": 400,
        "rounding": 1e-12,
        "baselines": {
            "informed": {
                "about": "is told the model",
                "value": certified(25.6),
                "average_gap": certified(0.0),
                "worst_gap": 0.0,
                "models": [{"name": n, "value": 9.0, "gap": 0.0} for n in names],
                "certainty": "certified",
                "bound": 25.6,
                "note": "one policy per model",
                "cross_gaps": None,
            },
            "memoryless": {
                "about": "looks at the state only",
                "value": certified(20.0),
                "average_gap": certified(5.5, 5.5001),
                "worst_gap": 9.25,
                "models": [{"name": n, "value": 9.0, "gap": 5.5} for n in names],
                "certainty": "certified",
                "bound": None,
                "note": "the best of 40 starts",
                "cross_gaps": None,
            },
            "posterior-sampling": {
                "about": "acts on one model drawn from the posterior",
                "value": estimate(22.0, 0.1),
                "average_gap": estimate(3.6, 0.1),
                "worst_gap": 7.0,
                "models": [
                    {"name": n, "value": estimate(9.0, 0.1), "gap": estimate(3.6, 0.1)}
                    for n in names
                ],
                "certainty": "estimated",
                "bound": None,
                "note": "",
                "cross_gaps": None,
            },
        },
        "value_of_memory": certified(3.4, 3.9),
        "value_of_randomization": certified(1.1, 1.6),
        "trace": [
            {"seconds": 0.01 * 2**k, "lower": 1.6 - 1.5 / 2**k, "upper": 2.1 + 9 / 2**k}
            for k in range(10)
        ],
        "seconds": 5.1,
        "compile_seconds": 0.0,
        "baseline_seconds": 1.0,
        "largest_bytes": 10**7,
        "policy_file": None,
        "belief_policy_file": None,
        "certainty": {
            **dict.fromkeys(
                ("lower", "upper", "average_gap", "worst_gap"), "certified"
            ),
            **dict.fromkeys(("optimal", "value", "gap", "gap_interval"), "certified"),
            "pair_prices": "certified",
            "estimated_gap": "estimated",
        },
        "provenance": PROVENANCE | {"command": "simgap oracle riverswim -H 60"},
    } | changes


RIVERS = tuple(f"success={0.1 + 0.125 * k:g}" for k in range(5))


def whole_folder(folder: Path) -> Path:
    """Write one record of every kind and three claims."""
    (folder / "claims").mkdir(parents=True, exist_ok=True)
    write_record(oracle(*RIVERS), folder / "oracle.json")
    write_record(gap(*RIVERS), folder / "gap.json")
    write_record(run(*RIVERS), folder / "run.json")
    surprise = claim(
        "theorem-10", verdict="undecided", as_expected=False, figures=[], errata=[]
    )
    for each in (claim(), refuted(), surprise):
        write_record(each, folder / "claims" / f"{each['claim']}.json")
    return folder


def page_of(folder: Path) -> str:
    return render_explorer(read_folder(folder))


def page_with(folder: Path, kind: str, record: dict[str, Any]) -> str:
    path = folder / f"{kind}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(record, path)
    return page_of(folder)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    return dict(json.loads(found.group(1)))
