"""A plan: what varies, what is the same everywhere, and the cells that follow.

    question = "gap"
    seeds = 3

    [axes]                      # every combination is a cell
    model = "riverswim?states={states}&success=0.1:0.6:3&left_reward=0.4"
    states = [3, 4, 5]          # for {states} in a text
    horizon = [10, 20, 40]
    policy = ["oracle", "likelihood", "memoryless"]

    [settings]                  # the same in every cell
    half_width = 0.05

    [limits]                    # of a cell
    seconds = 600
    memory = 4                  # GB

A cell is named by a hash of everything that decides its numbers: the question and the
version of its algorithm, the values of all fields, the contents of the files and models
that they name, and its seed. Its random numbers follow from the same, but for fields
whose values are compared, such as the policy: those meet the same luck.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, final

from simgap.errors import SimgapError
from simgap.ledger import key_of
from simgap.sweeps.fields import Field, Kind, Question
from simgap.sweeps.plan_file import PlanFile, plan_file_of, read_plan_file
from simgap.sweeps.questions.catalogue import QUESTIONS
from simgap.text import suggestion

SEED = "seed"
NAMES = ("question", "title", "seeds", "axes", "settings", "limits")
MOST_CELLS = 10**7
SEED_DIGITS = 7  # hexadecimal: below 2^28
PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")
LIMITS = (
    Field("seconds", Kind.REAL, "that a cell may take", least=0.001),
    Field("memory", Kind.REAL, "GB that a cell may hold", least=0.001),
    Field("tries", Kind.WHOLE, "of a cell whose process dies", least=1),
    Field("cpus", Kind.REAL, "that a cell has on a cluster", least=0.001),
    Field("gpus", Kind.REAL, "that a cell has on a cluster", least=0.0),
)


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One question with all its values."""

    key: str
    question: str
    axes: dict[str, Any]  # what the table says of it
    asked: dict[str, Any]  # the fields of the question
    seed: int  # of its random numbers


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What a cell may take."""

    seconds: float | None = None
    memory: float | None = None
    tries: int = 2
    cpus: float = 1.0
    gpus: float = 0.0


@final
@dataclass(frozen=True)
class Plan:
    """Everything that a sweep does."""

    title: str
    question: Question
    axes: dict[str, tuple[Any, ...]]  # in the order of the file, the seed last
    settings: dict[str, Any]
    limits: Limits
    file: PlanFile

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return prod(len(each) for each in self.axes.values())

    @cached_property
    def _contents(self) -> dict[tuple[str, ...], dict[str, Any]]:
        return {}

    def cells(self) -> Iterator[Cell]:
        """Return all cells, the last axis fastest."""
        for values in product(*self.axes.values()):
            yield self.cell(dict(zip(self.axes, values, strict=True)))

    def cell(self, axes: dict[str, Any]) -> Cell:
        """Return the cell at these values of the axes."""
        asked = self.asked(axes)
        texts = tuple(each for each in asked.values() if isinstance(each, str))
        if texts not in self._contents:
            self._contents[texts] = self.question.contents(asked)
        parts = {
            "question": self.question.name,
            "version": self.question.version,
            "asked": asked,
            "contents": self._contents[texts],
            SEED: axes[SEED],
        }
        luck = {
            "asked": {
                name: value
                for name, value in asked.items()
                if not _compared(self.question, name)
            },
            SEED: axes[SEED],
        }
        seed = int(key_of(luck)[:SEED_DIGITS], 16)
        return Cell(key_of(parts), self.question.name, axes, asked, seed)

    def asked(self, axes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a cell, with {names} in texts filled in."""
        known = {each.name for each in self.question.fields}
        given = {**self.settings, **{k: v for k, v in axes.items() if k in known}}
        return {name: filled(value, axes) for name, value in sorted(given.items())}


def filled(value: Any, axes: Mapping[str, Any]) -> Any:
    """Return a text with the values of axes in the place of their names."""
    if not isinstance(value, str):
        return value
    return PLACE.sub(lambda found: str(axes[found[1]]), value)


def read_plan(path: Path | str) -> Plan:
    """Return the plan of a file, everything about it checked."""
    return checked_plan(read_plan_file(Path(path)))


def plan_of(text: bytes, name: str) -> Plan:
    """Return the plan that a text holds, everything about it checked."""
    return checked_plan(plan_file_of(text, name))


def checked_plan(file: PlanFile) -> Plan:
    """Return the plan that a file says, or what is wrong with it, and where."""
    content = file.content
    for name in content:
        if name not in NAMES:
            hint = suggestion(name, NAMES) or f"a plan has {', '.join(NAMES)}"
            raise file.wrong(
                f"there is no {name!r} in a plan", hint, name, code="plan-key"
            )
    question = _question(file)
    axes = _axes(file, question)
    settings = _settings(file, question)
    for each in question.fields:
        if each.needed and each.name not in {**axes, **settings}:
            raise file.wrong(
                f"{each.name} is missing",
                f"write it under [axes]: {each.name} is {each.about}",
                "axes",
                code="plan-missing",
            )
        if each.name in axes and each.name in settings:
            raise file.wrong(
                f"{each.name} stands in [axes] and in [settings]",
                "leave one of them out",
                "settings",
                each.name,
                code="plan-twice",
            )
    _check_places(file, question, axes, settings)
    plan = Plan(
        _title(file),
        question,
        axes,
        settings,
        Limits(**_table(file, "limits", LIMITS)),
        file,
    )
    if plan.size > MOST_CELLS:
        raise file.wrong(
            f"the axes have {plan.size} combinations",
            f"a sweep has at most {MOST_CELLS} cells: divide it",
            "axes",
            code="plan-too-many-cells",
        )
    _check_values(plan)
    return plan


def _question(file: PlanFile) -> Question:
    name = file.content.get("question")
    if not isinstance(name, str) or name not in QUESTIONS:
        what = "question is missing" if name is None else f"question is {name!r}"
        near = suggestion(name, tuple(QUESTIONS)) if isinstance(name, str) else ""
        hint = near or f'write question = "..."; it is one of {", ".join(QUESTIONS)}'
        raise file.wrong(what, hint, "question", code="plan-question")
    return QUESTIONS[name]


def _title(file: PlanFile) -> str:
    title = file.content.get("title", "")
    if not isinstance(title, str):
        raise file.wrong(
            f"title is {title!r}", "it is a text", "title", code="plan-value"
        )
    return title


def _axes(file: PlanFile, question: Question) -> dict[str, tuple[Any, ...]]:
    given = file.content.get("axes")
    if not isinstance(given, dict) or not given:
        raise file.wrong(
            "there are no [axes]",
            "name what varies, such as horizon = [10, 20, 40]",
            "axes",
            code="plan-axes",
        )
    axes: dict[str, tuple[Any, ...]] = {}
    for name, value in given.items():
        values = value if isinstance(value, list) else [value]
        if not values:
            raise file.wrong(
                f"{name} has no values",
                "give one or more",
                "axes",
                name,
                code="plan-value",
            )
        field = _field(question, name)
        if field is not None and field.kind is Kind.REAL:
            values = [_as_number(each) for each in values]
        for each in values:
            problem = field.problem(each) if field is not None else _plain(name, each)
            if problem:
                about = "" if field is None else field.about
                raise file.wrong(problem, about, "axes", name, code="plan-value")
        if len({repr(each) for each in values}) < len(values):
            raise file.wrong(
                f"{name} has a value twice",
                "every value once; seeds = 3 repeats cells with other random numbers",
                "axes",
                name,
                code="plan-value-twice",
            )
        axes[name] = tuple(values)
    return axes | _seeds(file, axes)


def _seeds(file: PlanFile, axes: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    count = file.content.get("seeds", 1)
    if SEED in axes:
        if "seeds" in file.content:
            raise file.wrong(
                "both seeds and an axis seed",
                "give one of them",
                "seeds",
                code="plan-twice",
            )
        return {SEED: axes[SEED]}
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise file.wrong(
            f"seeds is {count!r}",
            "it is how many, 1 or more",
            "seeds",
            code="plan-value",
        )
    return {SEED: tuple(range(count))}


def _settings(file: PlanFile, question: Question) -> dict[str, Any]:
    return _table(file, "settings", question.fields)


def _table(file: PlanFile, name: str, fields: tuple[Field, ...]) -> dict[str, Any]:
    given = file.content.get(name, {})
    if not isinstance(given, dict):
        raise file.wrong(
            f"{name} is no table", f"write [{name}]", name, code="plan-value"
        )
    found, known = {}, {each.name: each for each in fields}
    for key, value in given.items():
        if key not in known:
            hint = suggestion(key, tuple(known)) or f"known are {', '.join(known)}"
            what = f"there is no {key!r} in [{name}]"
            raise file.wrong(what, hint, name, key, code="plan-key")
        real = known[key].kind is Kind.REAL
        found[key] = _as_number(value) if real else value
        if problem := known[key].problem(found[key]):
            raise file.wrong(problem, known[key].about, name, key, code="plan-value")
    return found


def _as_number(value: Any) -> Any:
    """Return 5 as 5.0, so that both name the same cell."""
    return float(value) if type(value) is int else value


def _plain(name: str, value: object) -> str:
    """Return what is wrong with a value that goes into texts."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return ""
    return f"{name} is {value!r}, neither a text nor a number"


def _field(question: Question, name: str) -> Field | None:
    if name == SEED:
        return Field(SEED, Kind.WHOLE, "of the random numbers of a cell", least=0)
    return question.field(name)


def _compared(question: Question, name: str) -> bool:
    field = question.field(name)
    return field is not None and field.compared


def _check_places(
    file: PlanFile,
    question: Question,
    axes: Mapping[str, tuple[Any, ...]],
    settings: Mapping[str, Any],
) -> None:
    """Refuse names in braces that no axis has, and axes that nothing uses."""
    used: set[str] = set()
    for table, name, value in [
        *(("axes", name, each) for name, values in axes.items() for each in values),
        *(("settings", name, each) for name, each in settings.items()),
    ]:
        for place in PLACE.findall(value) if isinstance(value, str) else ():
            if place not in axes:
                hint = (
                    suggestion(place, tuple(axes)) or f"write {place} = [...] in [axes]"
                )
                what = f"{name} has {{{place}}}, and there is no such axis"
                raise file.wrong(what, hint, table, name, code="plan-no-axis")
            used.add(place)
    for name in axes:
        if _field(question, name) is None and name not in used:
            near = suggestion(name, tuple(each.name for each in question.fields))
            raise file.wrong(
                f"the axis {name} changes nothing",
                near
                or f"write {{{name}}} in a text such as the model, or leave it out",
                "axes",
                name,
                code="plan-unused-axis",
            )


def _check_values(plan: Plan) -> None:
    """Refuse what the question itself refuses, before anything runs."""
    seen: set[tuple[str, ...]] = set()
    names = [n for n, v in plan.axes.items() if n != SEED and len(v) > 1]
    texts = [n for n in names if any(isinstance(v, str) for v in plan.axes[n])]
    texts += [n for n in names if _field(plan.question, n) is None]
    first = {name: values[0] for name, values in plan.axes.items()}
    for values in product(*(plan.axes[name] for name in texts)):
        axes = first | dict(zip(texts, values, strict=True))
        asked = plan.asked(axes)
        for name, check in plan.question.checks:
            told = (name, *(str(v) for v in asked.values() if isinstance(v, str)))
            if told in seen:
                continue
            seen.add(told)
            try:
                check(asked)
            except SimgapError as error:
                table = "axes" if name in plan.axes else "settings"
                raise plan.file.wrong(
                    error.problem, error.hint, table, name, code="plan-refused"
                ) from error
