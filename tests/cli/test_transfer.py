"""What `simgap transfer` prints for people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.cli.verbs.transfer import print_answer
from simgap.report import transfer_verdict
from tests.report import transfer_cases as cases


@pytest.mark.parametrize("loss", [0.0, 40.0, None])
def test_the_terminal_has_the_verdict_of_the_page(
    loss: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    gap = None if loss is None else cases.about(loss, 10.0)
    record = cases.transfer(policies=(replace(cases.policy("ppo"), gap=gap),))
    verdict = transfer_verdict(record)
    assert verdict is not None
    print_answer(record)
    lines = capsys.readouterr().out.splitlines()
    assert lines.count(f"Will it transfer?  {verdict.answer} (estimated)") == 1
    assert f"  {verdict.headline}" in lines


def test_verdicts_differ() -> None:
    """The control: the cases above are told apart."""
    every = [
        transfer_verdict(
            cases.transfer(policies=(replace(cases.policy("ppo"), gap=each),))
        )
        for each in (cases.about(0.0, 10.0), cases.about(40.0, 10.0), None)
    ]
    assert len({each.answer for each in every if each is not None}) == 3


def test_policies_of_one_folder_are_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "some/folder/with/a/long/name/policies.py"
    names = (f"{long}:brake", f"{long}:push")
    print_answer(cases.transfer(policies=tuple(map(cases.policy, names))))
    shown = capsys.readouterr().out
    assert "policies.py:brake: worst at" in shown
    assert "policies.py:push: worst at" in shown
