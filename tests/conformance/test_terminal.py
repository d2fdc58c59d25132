"""Every kind of record that the page draws is drawn on the terminal too."""

from __future__ import annotations

from typing import Any

import pytest

from simgap.cli.app.terminal import print_part
from simgap.report.parts import CLAIM, MAKERS
from tests.report.test_explorer_damage import KINDS


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_record_shows_its_answer_on_the_terminal(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    part = MAKERS.get(kind, CLAIM)(KINDS[kind](), "record-1")
    print_part(part)
    printed = " ".join(capsys.readouterr().out.split())
    content: Any = part.content
    verdict = getattr(content, "verdict", None)
    headline = getattr(verdict, "headline", getattr(content, "headline", ""))
    assert part.line.what in printed
    assert " ".join(headline.split()) in printed
    assert part.line.key.text in printed or not part.line.key_name
