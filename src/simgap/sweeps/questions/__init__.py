"""What the cells of a sweep can ask, by name."""

from __future__ import annotations

from simgap.sweeps.fields import Question
from simgap.sweeps.questions.classes import GAP, ORACLE
from simgap.sweeps.questions.simulators import TRAIN, TRANSFER

QUESTIONS: dict[str, Question] = {
    each.name: each for each in (GAP, ORACLE, TRANSFER, TRAIN)
}
