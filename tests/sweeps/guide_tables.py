"""The tables of docs/sweeps.md, made from the questions; as a module it writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from simgap.sweeps.fields import Field, Question
from simgap.sweeps.questions import QUESTIONS
from simgap.sweeps.reading import LIMITS

GUIDE = Path(__file__).parents[2] / "docs" / "sweeps.md"
BEGIN = "<!-- made by: python -m tests.sweeps.guide_tables -->\n"
END = "<!-- as far as here -->\n"


def tables() -> str:
    """Return the fields and numbers of every question, and the limits."""
    parts = [_question(each) for each in QUESTIONS.values()]
    limits = ["### `[limits]`\n", *_fields(LIMITS)]
    return "\n".join([*parts, "\n".join(limits)]) + "\n"


def _question(question: Question) -> str:
    about = question.about[0].upper() + question.about[1:]
    numbers = ["| number | what it is |", "|---|---|"]
    numbers += [f"| `{name}` | {told} |" for name, told in question.columns.items()]
    head = [f"### `{question.name}`\n", f"{about}.\n", *_fields(question.fields)]
    return "\n".join([*head, "", *numbers, ""])


def _fields(fields: tuple[Field, ...]) -> Iterator[str]:
    yield from ("| field | what it is | meaning |", "|---|---|---|")
    for each in fields:
        kind = f"**{each.kind.value}**" if each.needed else each.kind.value
        compared = "; compared" if each.compared else ""
        yield f"| `{each.name}` | {kind} | {each.about}{compared} |"


def written() -> str:
    """Return the guide with the tables as they should be."""
    text = GUIDE.read_text()
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    assert begin, f"{GUIDE} has no line {BEGIN!r}"
    assert end, f"{GUIDE} has no line {END!r}"
    return f"{head}{BEGIN}\n{tables()}\n{END}{tail}"


if __name__ == "__main__":
    GUIDE.write_text(written())
