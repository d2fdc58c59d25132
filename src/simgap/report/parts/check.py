"""Whether a policy in a simulator can be measured: every check, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.records.check import SimulatorCheck
from simgap.report.part import Card, Line, Part, certainties_of, origin_of
from simgap.report.parts.audit import findings_sheet
from simgap.report.shown_number import NOTHING
from simgap.text import counted, shown

GROUP = "Before measuring"


@final
@dataclass(frozen=True, slots=True)
class CheckContent:
    """Everything the template draws about a check."""

    headline: str
    mood: str


def check_part(record: SimulatorCheck, anchor: str) -> Part:
    """Return the part of `check.json`."""
    failed = [each for each in record.checks if each.status == "fail"]
    warned = [each for each in record.checks if each.status == "warning"]
    headline, mood = "Nothing was found that makes a measurement wrong.", "good"
    if failed:
        headline, mood = f"{counted(len(failed), 'check')} failed.", "bad"
    elif warned:
        headline = f"Ready to be measured; {counted(len(warned), 'warning')} to read."
        mood = "mind"
    return Part(
        group=GROUP,
        template="check.html",
        anchor=anchor,
        title=f"Checks of {shown(record.policy, 80)} in {shown(record.simulator, 80)}",
        line=Line(
            what="check",
            about=counted(len(record.checks), "check"),
            answer="ready" if record.passed else "not ready",
            mood=mood,
            key_name="",
            key=NOTHING,
        ),
        content=CheckContent(headline=headline, mood=mood),
        origin=origin_of(record),
        sheets=(findings_sheet(record.checks, f"{anchor}-table-1"),),
        cards=tuple(
            Card("warning", "A check failed", "", shown(each.text, 200))
            for each in failed[:1]
        ),
        certainties=certainties_of(record, kind="check", gaps=False),
    )
