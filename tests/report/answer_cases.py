"""Records as the verbs for practitioners write them, for the tests of the page."""

from __future__ import annotations

from math import exp, log, sqrt
from pathlib import Path
from typing import Any

from simgap.records.kept import write_record
from tests.report.explorer_cases import PROVENANCE, certified, estimate, gap, oracle

LAKES = tuple(f"success_rate={p}" for p in ("0.333", "0.5", "0.7", "0.9"))
MODEL = "gym:FrozenLake-v1?success_rate=0.333,0.5,0.7,0.9&terminal=restart"
HORIZONS = (5, 10, 25, 50, 100, 200)


def origin(verb: str) -> dict[str, Any]:
    return PROVENANCE | {
        "command": f"simgap {verb} '{MODEL}' -H 200 --out study",
        "model": MODEL,
    }


def audit(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap audit -H 200`."""
    return {
        "schema": 1,
        "kind": "audit",
        "horizon": 200,
        "models": len(names),
        "states": 16,
        "actions": 4,
        "communicating": True,
        "diameter": certified(57.55, 57.6),
        "separation": {
            "value": 1.0 / 3.0,
            "pair": [0, 1],
            "pair_names": [names[0], names[-1]],
            "state": 4,
            "action": 1,
            "state_name": "row 1, column 0",
            "action_name": "down",
            "visits": 57,
            "steps": certified(41.0, 57.0),
        },
        "verdict": "with memory",
        "headline": "It transfers if the policy remembers what it has seen.",
        "reason": "With memory 2.2 to 2.3 % of what is at stake is lost; without it "
        "at least 9 %, which is more than the 5 % that is acceptable.",
        "verdict_certainty": "certified",
        "verdict_code": None,
        "everywhere": True,
        "memory": {
            "enough": "certified",
            "needed": "certified",
            "with_memory": certified(0.25, 0.2625),
            "without_memory": certified(1.05, 1.06251),
            "searched": 31,
            "stationary": False,
        },
        "acceptable": 0.05,
        "findings": [
            {
                "check": "rows",
                "code": "probabilities",
                "status": "ok",
                "text": "256 of 256 rows, worst error 1e-16",
                "value": 1e-16,
            },
            {
                "check": "communicating",
                "code": "communicating-by-restart",
                "status": "warning",
                "text": "only because terminal states restart",
                "value": 57.55,
            },
            {
                "check": "separation",
                "code": "told-apart",
                "status": "ok",
                "text": f"{names[0]} and {names[-1]} are hardest to tell apart",
                "value": 1.0 / 3.0,
            },
            {
                "check": "smoothness",
                "code": "no-parameters",
                "status": "info",
                "text": "the class is finite",
                "value": None,
            },
            {
                "check": "rewards",
                "code": "shared",
                "status": "fail",
                "text": "rewards from -1 to 1 were moved and scaled",
                "value": 2.0,
            },
        ],
        "theorem": {
            "name": "Theorem 2",
            "bound": 51234.5,
            "vacuous": True,
            "non_vacuous_from": 9.1e6,
        },
        "average_gap": certified(0.25, 0.2625),
        "at_stake": 11.5,
        "relative_gap": certified(0.25 / 11.5, 0.2625 / 11.5),
        "worst": {"name": names[0], "gap": 0.28, "relative": 0.043},
        "rounding": 1e-13,
        "memoryless_gap": certified(1.05, 1.0501),
        "relative_memoryless": certified(1.05 / 11.5, 1.0501 / 11.5),
        "memoryless_worst": {"name": names[0], "gap": 2.0, "relative": 0.6},
        "value_of_memory": certified(0.7875, 0.8001),
        "outcome": "closed the bracket as far as asked",
        "in_simulator": [],
        "passed": True,
        "next": [f"simgap blame '{MODEL}' -H 200", "simgap report study -o page.html"],
        "certainty": {
            "diameter": "certified",
            "separation": "certified",
            "average_gap": "certified",
            "at_stake": "certified",
            "models": "exact",
        },
        "notes": [
            {
                "code": "a-note",
                "text": "terminal states restart; as shipped, holes are absorbing",
            }
        ],
        "provenance": origin("audit"),
    } | changes


def growing_gap(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap gap` with its tables at growing horizons."""
    size = len(names)
    return (
        gap(*names)
        | {
            "at_stake": 11.5,
            "memory": {
                "enough": "certified",
                "needed": "certified",
                "with_memory": certified(0.25, 0.2625),
                "without_memory": certified(1.05, 1.06251),
                "searched": 31,
                "stationary": False,
            },
            "value_of_memory": certified(0.7875, 0.8001),
            "value_of_randomization": certified(1.1, 1.2),
            "trained": list(range(size)),
            "by_horizon": [at_horizon(h, size) for h in HORIZONS],
            "certainty": {
                "optimal": "certified",
                "at_stake": "certified",
                "value_of_memory": "certified",
                "value_of_randomization": "certified",
                "by_horizon": "certified",
            },
            "notes": [
                {"code": "a-note", "text": "gaps are in the rewards of the model"}
            ],
            "provenance": origin("gap"),
        }
        | changes
    )


def at_horizon(horizon: int, size: int) -> dict[str, Any]:
    return {
        "horizon": horizon,
        "informed": 0.061 * horizon,
        "average_gap": certified(0.02 * sqrt(horizon), 0.0204 * sqrt(horizon)),
        "memoryless": certified(0.006 * horizon),
        "random": 0.0575 * horizon,
        "train": [
            [abs(i - j) * 0.03 * horizon / size for j in range(size)]
            for i in range(size)
        ],
        "bounds": [
            {"name": "Theorem 1", "value": 1.2 + 0.4 * log(horizon)},
            {"name": "Theorem 2", "value": 900.0 * sqrt(horizon * log(horizon))},
        ],
    }


def blame(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap blame` with two hidden parameters."""
    size = len(names)
    prices = [[0.1 * abs(i - j) for j in range(size)] for i in range(size)]
    return {
        "schema": 1,
        "kind": "blame",
        "horizon": 200,
        "whole": certified(0.25, 0.2625),
        "method": "sampled",
        "permutations": 64,
        "classes_planned": 12,
        "parameters": [
            {
                "name": name,
                "values": 4,
                "share": share,
                "part": part,
                "alone": certified(0.01 * (at + 1), 0.011 * (at + 1)),
                "information": certified(0.05 * (at + 1)),
                "ignored": certified(0.4 * (at + 1) - 0.1, 0.4 * (at + 1) + 0.1),
                "curve": [
                    {
                        "value": 0.3 + 0.2 * k,
                        "told": certified(0.05 * k, 0.06 * k),
                        "loss": 0.3 * abs(k - 1),
                    }
                    for k in range(4)
                ],
            }
            for at, (name, share, part) in enumerate(
                (
                    ("friction", certified(0.04, 0.05), certified(0.15, 0.2)),
                    ("success_rate", estimate(0.205, 0.02), estimate(0.8, 0.08)),
                )
            )
        ],
        "leader": "success_rate",
        "ignored_whole": 1.2,
        "nominal": names[1],
        "names": list(names),
        "pair_prices": {
            "lower": prices,
            "upper": prices,
            "models": list(range(size)),
        },
        "rounding": 0.0,
        "headline": "Measure success_rate first: it causes most of the loss.",
        "certainty": {
            "whole": "certified",
            "ignored_whole": "certified",
            "loss": "certified",
            "told": "certified",
        },
        "notes": [{"code": "a-note", "text": "shares add up to the whole"}],
        "provenance": origin("blame"),
    } | changes


def width(*names: str, param: str = "success_rate", **changes: Any) -> dict[str, Any]:
    """A record of `simgap width`: four ranges, the third is wide enough."""
    values = [0.333 + 0.6 * k / len(names) for k in range(len(names))]
    rows = [
        {
            "width": 0.2 * k,
            "low": 0.6 - 0.1 * k,
            "high": 0.6 + 0.1 * k,
            "models": k + 1,
            "gap": certified(4.0 / (1 + k) ** 2, 4.1 / (1 + k) ** 2),
            "worst": certified(9.0 / (1 + k)),
            "worst_model": names[0],
            "inside": certified(0.05 * k, 0.06 * k),
            "outside": certified(6.0 / (1 + k)) if k < 3 else None,
            "gaps": [8.0 * abs(v - 0.6) / (1 + k) for v in values],
            "at_nominal": certified(0.1 * k),
            "beyond": [{"distance": 0.1, "models": 1, "gap": certified(0.3)}],
            "surprising": False,
            "outcome": "exact up to rounding",
        }
        for k in range(4)
    ]
    return {
        "schema": 1,
        "kind": "width",
        "param": param,
        "horizon": 200,
        "nominal": 0.6,
        "real": [
            {"name": name, "value": value, "prior": 1.0 / len(names)}
            for name, value in zip(names, values, strict=True)
        ],
        "widths": rows,
        "recommended": rows[2]["width"],
        "reason": "Wider ranges lose less on average; from here on it is less than "
        "1 % of what is at stake.",
        "criterion": "average",
        "slack": 0.003,
        "at_stake": 0.0,
        "rounding": 0.0,
        "recommended_average": rows[2]["width"],
        "recommended_worst": rows[3]["width"],
        "least_possible": None,
        "certainty": {
            "gap": "certified",
            "worst": "certified",
            "inside": "certified",
            "outside": "certified",
            "gaps": "certified",
        },
        "notes": [],
        "provenance": origin("width"),
    } | changes


def identify(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap identify`."""
    steps = [0, 1, 2, 5, 10, 20, 50, 100, 200]
    pairs = [
        {
            "first": i,
            "second": j,
            "first_name": names[i],
            "second_name": names[j],
            "state": 4,
            "action": 1,
            "state_name": "row 1, column 0",
            "action_name": "down",
            "distance": 0.33 * (j - i),
            "affinity": 0.9,
            "visits": 12 * (len(names) - j + i),
            "steps": certified(40.0 / (j - i), 57.0 / (j - i)),
        }
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    if len(pairs) > 2:
        pairs[2] |= {"visits": None, "steps": {"lower": "inf", "upper": "inf"}}
    return {
        "schema": 1,
        "kind": "identify",
        "horizon": 200,
        "error": 0.05,
        "names": list(names),
        "pairs": pairs,
        "slowest": 0 if pairs else None,
        "timeline": {
            "steps": steps,
            "models": [
                {
                    "name": name,
                    "prior": 1.0 / len(names),
                    "posterior": [
                        estimate(1.0 - 0.75 * exp(-(at + 1) * t / 60.0), 0.02)
                        for t in steps
                    ],
                }
                for at, name in enumerate(names)
            ],
            "computed": 0,
            "episodes": 400,
            "average_gap": certified(0.1, 0.2),
        },
        "certainty": {
            "steps": "certified",
            "distance": "certified",
            "visits": "certified",
            "timeline": "estimated",
        },
        "notes": [
            {"code": "a-note", "text": "the experiment is the quickest there is"}
        ],
        "provenance": origin("identify"),
    } | changes


def adapt(*names: str, **changes: Any) -> dict[str, Any]:
    """A record of `simgap adapt`."""
    size = len(names)
    weights = [2.0**-at for at in range(size)]
    return {
        "schema": 1,
        "kind": "adapt",
        "horizon": 200,
        "transitions": 1200,
        "episodes": 6,
        "log_hash": "abc",
        "posterior": [
            {
                "name": name,
                "prior": 1.0 / size,
                "probability": weights[at] / sum(weights),
                "log_likelihood": -300.5 - 0.7 * at if at < 3 else "-inf",
                "p_value": 0.4 / (at + 1),
                "plausible": True,
                "gap_before": 0.3 + 0.1 * at,
                "gap_after": 0.06 + 0.1 * at,
            }
            for at, name in enumerate(names)
        ],
        "parameters": [
            {
                "name": "success_rate",
                "before": {"mean": 0.6, "sd": 0.2},
                "after": {"mean": 0.45, "sd": 0.1},
            }
        ],
        "outside_class": False,
        "false_alarm": 0.01,
        "best": names[0],
        "gap_bound_before": certified(0.25, 0.2625),
        "gap_bound_after": certified(0.05, 0.06),
        "gap_of_old_plan": 0.11,
        "plausible_gap": 0.07,
        "lemma_1": {"name": names[0], "probability": 0.5, "bound": 0.12},
        "misfit": [
            {
                "state": 4,
                "action": 1,
                "state_name": "4",
                "action_name": "1",
                "visits": 31,
                "successor": 3,
                "observed": 9 / 31,
                "expected": 0.0,
                "log_evidence": "inf",
                "text": "moved left 9 times of 31",
            }
        ],
        "rounding": 1e-12,
        "files": {"policy": None, "belief_policy": None, "model": None},
        "certainty": {
            "posterior": "exact",
            "p_value": "exact",
            "parameters": "exact",
            "gap_bound_before": "certified",
            "gap_bound_after": "certified",
        },
        "notes": [{"code": "a-note", "text": "p-values hold for any way of stopping"}],
        "provenance": origin("adapt"),
    } | changes


KINDS = {
    "audit": audit,
    "blame": blame,
    "width-success_rate": width,
    "identify": identify,
    "adapt": adapt,
}


def study_folder(folder: Path, *names: str) -> Path:
    """Write one record of every kind that `simgap study` leaves, and an adaptation."""
    names = names or LAKES
    folder.mkdir(parents=True, exist_ok=True)
    for kind, make in KINDS.items():
        write_record(make(*names), folder / f"{kind}.json")
    write_record(oracle(*names), folder / "oracle.json")
    write_record(growing_gap(*names), folder / "gap.json")
    return folder


def strange_answers(folder: Path, *words: str) -> None:
    """Write records in which every word is a stranger's; the first is everywhere."""
    text, names = words[0], (*words, "b")
    source = PROVENANCE | dict.fromkeys(
        ("command", "model", "model_hash", "simgap", "python", "numpy"), text
    )
    finding = {"code": text, "status": "fail", "value": 1.0}
    odd = {
        "notes": [{"code": text, "text": word} for word in words],
        "provenance": source,
        "certainty": {text: "certified"},
    }
    records = {
        "audit": audit(
            *names,
            headline=text,
            reason=text,
            findings=[finding | {"check": word, "text": word} for word in words],
            theorem={
                "name": text,
                "bound": 1.0,
                "vacuous": True,
                "non_vacuous_from": None,
            },
            worst={"name": text, "gap": 0.5, "relative": 0.1},
            next=list(words),
            **odd,
        ),
        "gap": growing_gap(*names, left_out={text: text}, **odd),
        "blame": blame(*names, nominal=text, **odd),
        "width": width(*names, param=text, reason=text, **odd),
        "identify": identify(*names, **odd),
        "adapt": adapt(*names, outside_class=True, **odd),
    }
    for each in records["gap"]["by_horizon"]:
        each["bounds"].append({"name": text, "value": 1.0})
    for each, word in zip(records["blame"]["parameters"], names, strict=False):
        each["name"] = word
    for each in records["identify"]["pairs"]:
        each |= {"state_name": text, "action_name": text}
    records["adapt"]["parameters"][0]["name"] = text
    records["adapt"]["misfit"][0] |= {"text": text, "state_name": text}
    for kind, record in records.items():
        write_record(record, folder / f"{kind}.json")
