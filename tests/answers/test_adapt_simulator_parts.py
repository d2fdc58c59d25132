"""What a real log says of a simulator, in parts: shares, intervals, what is told."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument, InvalidFile
from simgap.records import write_record
from tests.report.transfer_cases import share, transfer

OF_SIMULATOR: Any = import_module("simgap.answers.adapt.simulator")


def test_shares_are_total_ones_if_a_transfer_has_them(tmp_path: Path) -> None:
    parts = (share("length", 0.7, 0.9), share("mass", 0.2, None))
    write_record(transfer(parameters=parts), tmp_path / "transfer.json")
    assert OF_SIMULATOR._shares(tmp_path) == {"length": 0.9, "mass": 0.2}
    write_record(transfer(parameters=()), tmp_path / "transfer.json")
    with pytest.raises(InvalidFile) as caught:
        OF_SIMULATOR._shares(tmp_path)
    assert caught.value.code == "no-shares"


def test_intervals_are_told_of_a_posterior_that_has_samples() -> None:
    found = Stand(
        free=(1,),
        nu=Stand(support=np.array([[0.0, 1.0], [2.0, 4.0]]), names=("mass", "gain")),
        samples=Stand(effective=20.0),
        weights=np.array([0.25, 0.75]),
        theta=np.array([[0.0, 2.0], [0.0, 3.0]]),
        interval=lambda draw, chance: (2.5 + draw, 2.5 + chance),
        remaining=lambda at: 0.125 + at,
    )
    (belief,) = OF_SIMULATOR._beliefs(found)
    assert (belief.name, belief.mean) == ("gain", 2.75)
    assert (belief.lower, belief.upper) == (3.5, 3.45)
    assert (belief.before, belief.remaining) == ((2.0, 4.0), 0.125)
    found.samples.effective = 19.9
    (belief,) = OF_SIMULATOR._beliefs(found)
    assert (belief.lower, belief.upper) == (2.0, 4.0)


class Rows(list[int]):
    """A log of observations, as far as an answer reads it."""

    n_episodes, hash, notes, dt = 2, "abc", ("a gap",), 0.04


@pytest.mark.parametrize(
    ("p_value", "outside"), [(0.019, True), (0.02, False), (0.5, False)]
)
def test_what_a_log_says_of_a_simulator_is_told_by_name(
    p_value: float, outside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three parameters are free; the second leans on an end of its range."""
    nu = Stand(
        names=("mass", "fixed", "gain"),
        support=np.array([[0.0, 1.0], [2.0, 2.0], [3.0, 5.0]]),
        notes=("widened",),
        to_string=lambda: "the ranges",
    )
    found = Stand(
        nu=nu,
        free=(0, 2),
        delay=1,
        delays=np.array([0, 1, 2]),
        delay_chances=np.array([0.25, 0.5, 0.25]),
        delays_disagree=False,
        fit=Stand(channel=0, p_value=p_value, explained=0.5, drag={0: 0.25, 2: 0.5}),
        seen=[1],
        samples=Stand(effective=300.0, settled=True),
        weights=np.array([0.5, 0.5]),
        theta=np.array([[0.0, 2.0, 3.0], [1.0, 2.0, 4.0]]),
        interval=lambda draw, chance: (float(draw), 9.0),
        remaining=lambda at: (0.5, 0.4)[at],
        at_edge=lambda at: at == 1,
        rows=lambda seed: ("names", f"rows of {seed}"),
    )
    met: dict[str, Any] = {}

    def identified(opened: Any, bound: Any, seen: Any, **more: Any) -> Any:
        met.update(more, given=(opened, bound, list(seen)))
        return found

    opened = Stand(name="servo", seconds=0.02)
    for name, stand_in in (
        ("open_simulator", lambda simulator: opened),
        ("bind", lambda randomize, simulator: nu),
        ("refuse_noise", lambda simulator, seen: met.update(refused=simulator)),
        ("identified", identified),
        ("Sampler", lambda seed: f"sampler {seed}"),
        ("write_rows", lambda *given: met.update(written=given)),
        ("read_real_log", lambda path, rate: Rows([rate])),
    ):
        monkeypatch.setattr(OF_SIMULATOR, name, stand_in)
    parts = (share("mass", 0.1, 0.1), share("gain", 0.8, 0.9))
    write_record(transfer(parameters=parts), tmp_path / "transfer.json")
    more: dict[str, Any] = {
        "rate": 50,
        "delay": 2,
        "false_alarm": 0.02,
        "transfer": tmp_path,
        "out": tmp_path / "posterior.CSV",
        "seed": 6,
    }
    answer = OF_SIMULATOR.adapt_simulator("servo", "the spec", "real.csv", **more)
    assert met == {
        "given": (opened, nu, [50]),
        "longest_delay": 2,
        "false_alarm": 0.02,
        "sampler": "sampler 6",
        "refused": opened,
        "written": (tmp_path / "posterior.CSV", "names", "rows of 6", None),
    }
    assert (answer.simulator, answer.randomize) == ("servo", "the ranges")
    assert answer.provenance.model == "servo" and answer.provenance.seed == 6
    assert (answer.transitions, answer.episodes) == (1, 2)
    assert (answer.log_hash, answer.time_step) == ("abc", 0.04)
    assert [each.name for each in answer.posterior] == ["mass", "gain"]
    assert [each.mean for each in answer.posterior] == [0.5, 3.5]
    assert [each.lower for each in answer.posterior] == [0.0, 2.0]
    assert answer.delay == 1 and [each.steps for each in answer.delays] == [0, 1, 2]
    assert [each.probability for each in answer.delays] == [0.25, 0.5, 0.25]
    assert (answer.outside_class, answer.p_value) == (outside, p_value)
    assert {each.channel: each.drag for each in answer.detectable} == {0: 0.25, 2: 0.5}
    assert answer.edge == ("gain",) and answer.measure_next == "gain"
    assert answer.worst_channel == 0 and answer.effective == 300.0
    told = {each.check: each.code for each in answer.findings}
    assert told == {
        "fit": "outside-class" if outside else "no-misfit-seen",
        "edge": "at-edge",
        "lengths": "one-length",
        "delay": "delay-differs",
        "rate": "rate-differs",
    }
    assert [(each.code, each.text) for each in answer.notes] == [
        ("about-the-log", "a gap"),
        ("about-the-ranges", "widened"),
    ]
    assert answer.path == str(tmp_path / "posterior.CSV")
    plain = OF_SIMULATOR.adapt_simulator("servo", "the spec", Path("real.csv"))
    assert met["longest_delay"] == 0 and plain.measure_next == "mass"
    assert plain.path is None and plain.false_alarm == 0.01
    for wrong in (0.0, 1.0):
        with pytest.raises(InvalidArgument):
            OF_SIMULATOR.adapt_simulator("servo", "x", "real.csv", false_alarm=wrong)
    with pytest.raises(InvalidFile) as caught:
        OF_SIMULATOR.adapt_simulator("servo", "x", "real.csv", out="posterior.npz")
    assert caught.value.code == "posterior-ending"
