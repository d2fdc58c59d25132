"""Blame and identify of trainings: closed forms, and one real run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.answers.blame.blame_run import blame_run
from simgap.answers.identify.identify_run import identify_run
from simgap.cli.app.main import main
from simgap.records.blame_run import BlamedRun
from simgap.records.files import read_record
from simgap.records.identify_run import IdentifiedRun
from simgap.records.kept import write_record
from simgap.records.train import Train
from tests.continuous.measuring.guess import SPEC, VARIANCES, Guess, Guesser
from tests.note_codes import codes

HORIZON, LEARNT = 20, 7
SERVO = ("servo", "--randomize", "gain=0.5..1.5 sign={-1,1}", "-H", "20")


def trained(name: str, *guessers: Guesser, **changes: Any) -> Train:
    """Return guessers as the seeds of a training."""
    left = list(guessers)
    found = simgap.train(
        Guess(),
        randomize=SPEC,
        memory="gru",
        informed=True,
        seeds=len(left),
        name=name,
        train_fn=lambda simulator, sampler, memory: left.pop(0),
    )
    return replace(found, **changes)


MASKED = trained("masked-gru", *[Guesser()] * 3, masked=True)
MEMORY = trained("gru", *[Guesser(LEARNT)] * 3, informed=False)
INFORMED = trained("informed-gru", *[Guesser()] * 2)


# blame


def test_shares_of_what_is_told_are_the_variances_of_the_parameters() -> None:
    found = blame_run([MASKED], design="random:2000", episodes=1)
    shares = {each.name: each.share for each in found.parameters}
    for name, variance in VARIANCES.items():
        assert shares[name].lower <= HORIZON * variance <= shares[name].upper
    assert found.leader == "mass"
    assert sum(each.estimate for each in shares.values()) == pytest.approx(
        found.total.estimate, rel=1e-12
    )
    told = {each.told: each.returned.estimate for each in found.sets}
    assert told["mass", "length"] == 0.0
    assert found.total.estimate == pytest.approx(-told[()])
    assert found.method == "exact" and found.orders is None
    assert (found.trainings, found.episodes) == (3, 3 * 4 * 2000)
    assert codes(found) == ["few-seeds"]


def test_other_trainings_of_the_run_stand_beside_the_masked_one() -> None:
    worse = trained("gru", *[Guesser(HORIZON)] * 2, informed=False)
    late = trained("informed-gru", *[Guesser(LEARNT)] * 2)
    found = blame_run([MASKED, worse, late], design="random:200", episodes=1, seed=3)
    assert found.provenance.seed == 3
    checks = {each.told: each for each in found.checks}
    assert checks["nothing"].against == "gru"
    assert checks["nothing"].difference.estimate == pytest.approx(0.0, abs=1e-9)
    lost = LEARNT * sum(VARIANCES.values())
    assert checks["everything"].difference.estimate == pytest.approx(lost, rel=0.3)
    assert "masking-costs" not in codes(found)
    slow = trained("masked-gru", *[Guesser(LEARNT)] * 3, masked=True)
    found = blame_run([slow, INFORMED], design="random:200", episodes=1)
    assert "masking-costs" in codes(found)


def test_a_policy_that_does_not_use_what_it_is_told_has_nothing_to_blame() -> None:
    deaf = trained("masked-gru", *[Guesser(HORIZON)] * 2, masked=True)
    found = blame_run([deaf], design="random:50", episodes=1)
    assert found.total.ends == (0.0, 0.0)
    assert all(each.part is None for each in found.parameters)
    assert "nothing-to-blame" in codes(found)
    assert "nothing-to-blame" not in codes(
        blame_run([MASKED], design="random:50", episodes=1)
    )


# identify


def test_the_step_from_which_nothing_is_lost_is_that_of_the_policy() -> None:
    found = identify_run([MEMORY, INFORMED], worlds=200)
    assert found.settled == found.settled_here == LEARNT + 1
    assert found.total is not None
    lost = [each.loss.estimate for each in found.losses]
    assert len(lost) == HORIZON
    assert sum(lost) == pytest.approx(found.total.estimate)
    assert found.steps == 5 * 200 * HORIZON
    for each in found.parameters:
        for step, read, wrong in zip(
            found.probed, each.explained, each.shuffled, strict=True
        ):
            assert read is not None and wrong is not None
            known = 1.0 if step > LEARNT else 0.0
            assert read.estimate == pytest.approx(known, abs=0.1)
            assert wrong.estimate == pytest.approx(0.0, abs=0.1)
    assert codes(found) == ["few-seeds"]


def test_a_policy_that_never_finds_out_never_settles() -> None:
    never = trained("gru", *[Guesser(HORIZON)] * 3, informed=False)
    found = identify_run([never, INFORMED], worlds=100)
    assert found.settled is None and found.losses[-1].loss.lower > 0.0
    assert codes(found) == ["few-seeds"]


# one real training, on the command line


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
def test_a_servo_is_trained_blamed_and_identified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """About fifteen seconds of one core: sign matters at once, gain hardly."""
    run = tmp_path / "run"
    training = ("--masked", "--steps", "5e4", "--threads", "1", "--out", str(run))
    assert main(["train", *SERVO, *training]) == 0
    policy, record = (run / "masked-gru" / n for n in ("seed-0.onnx", "train.json"))
    before = policy.read_bytes(), record.read_bytes()
    policy.unlink()  # it is made again, from the checkpoint
    assert main(["train", *SERVO, *training]) == 0
    assert (policy.read_bytes(), record.read_bytes()) == before
    again = ("--threads", "1", "--design", "sobol:32", "--episodes", "4")
    blamed = answered(capsys, "blame", str(run), *again)
    assert blamed == json.loads((run / "blame_run.json").read_text())
    shares = {each["name"]: each["share"] for each in blamed["parameters"]}
    assert shares["sign"]["lower"] > abs(shares["gain"]["estimate"])
    assert blamed["leader"] == "sign"
    told = {tuple(each["told"]): each["return"]["estimate"] for each in blamed["sets"]}
    assert told["gain", "sign"] - told[()] == pytest.approx(blamed["total"]["estimate"])
    assert blamed["provenance"]["command"].startswith("simgap blame")

    # the same policies, told nothing and told everything, as two other trainings
    learnt = read_record(record, Train)
    for name, informed in (("gru", False), ("informed-gru", True)):
        folder = run / name
        folder.mkdir()
        made = replace(learnt, name=name, masked=False, informed=informed)
        _untrained(folder / "seed-0.onnx", informed=informed)
        write_record(made, folder / "train.json")
    found = answered(capsys, "identify", str(run), "--worlds", "80")
    assert found == json.loads((run / "identify_run.json").read_text())
    assert (found["policy"], found["reference"]) == ("gru", "informed-gru")
    assert len(found["losses"]) == 20
    blame = {each["name"]: each["blame"] for each in found["parameters"]}
    assert blame["sign"] == shares["sign"]
    assert read_record(run / "blame_run.json", BlamedRun).leader == "sign"
    assert read_record(run / "identify_run.json", IdentifiedRun).worlds == 80
    assert main(["blame", str(run), *again]) == 0
    assert main(["identify", str(run), "--worlds", "80"]) == 0
    for wrong in (
        ["blame", str(run), "-H", "9"],
        ["identify", "gym:x", "--worlds", "99"],
    ):
        assert main(wrong) == 2


def _untrained(path: Path, *, informed: bool) -> None:
    """Write a network that has learnt nothing, as a training would write it."""
    from simgap.continuous import bind, open_simulator, parse_randomization
    from simgap.continuous.training.export import write_trained
    from simgap.continuous.training.features import features_of
    from simgap.continuous.training.learner import learner_of
    from simgap.continuous.training.memory import parse_memory
    from simgap.continuous.training.settings import preset

    simulator = open_simulator("servo")
    spec = bind(parse_randomization(SERVO[2]), simulator)
    settings = preset(parse_memory("gru"), 20, informed=informed)
    learner = learner_of(simulator, settings, features_of(spec))
    write_trained(path, learner, learner.start(0))
