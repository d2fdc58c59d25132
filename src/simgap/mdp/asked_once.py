"""Questions to which a frozen record always has the same answer: computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, TypeVarTuple
from weakref import WeakKeyDictionary

Record = TypeVar("Record")
Numbers = TypeVarTuple("Numbers")
Answer = TypeVar("Answer")


def asked_once(
    question: Callable[[Record, *Numbers], Answer],
) -> Callable[[Record, *Numbers], Answer]:
    """Return the question with a memory: a record is asked once, as long as it lives.

    Answers are shared, so they are frozen; none may hold the record itself, which
    would then live for ever. Numbers may follow the record.
    """
    answers: WeakKeyDictionary[Record, dict[tuple[*Numbers], Answer]]
    answers = WeakKeyDictionary()

    @wraps(question)
    def answer(record: Record, *numbers: *Numbers) -> Answer:
        known = answers.setdefault(record, {})
        if numbers not in known:
            known[numbers] = question(record, *numbers)
        return known[numbers]

    return answer
