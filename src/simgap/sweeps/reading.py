"""Reading a plan: everything about it is checked before anything runs.

What is wrong is told with the line on which it stands, what is wrong with it, and a way
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from simgap.errors import SimgapError
from simgap.sweeps.fields import Field, Kind, Question, is_number, told
from simgap.sweeps.plan import PLACE, SEED, Inputs, Limits, Plan
from simgap.sweeps.plan_file import PlanFile, plan_file_of, read_plan_file
from simgap.sweeps.questions import QUESTIONS
from simgap.sweeps.table import header_of
from simgap.text import shown, suggestion

NAMES = ("question", "title", "seeds", "axes", "settings", "limits")
MOST_CELLS = 10**7
A_SEED = Field(SEED, Kind.WHOLE, "the number of a repetition, 0 or more", least=0)
LIMITS = (
    Field("seconds", Kind.REAL, "that a cell may take", least=0.001),
    Field("memory", Kind.REAL, "GB that a cell may hold", least=0.001),
    Field("tries", Kind.WHOLE, "runs of a cell whose process dies", least=1),
    Field("cpus", Kind.REAL, "what a cell has on a cluster", least=0.001),
    Field("gpus", Kind.REAL, "what a cell has on a cluster", least=0.0),
)


def read_plan(path: Path | str) -> Plan:
    """Return the plan of a file, everything about it checked."""
    plan = _plan(read_plan_file(Path(path)))
    _check_values(plan)
    return plan


def plan_of(text: bytes, name: str, inputs: Inputs | None = None) -> Plan:
    """Return the plan that a text holds, everything about it checked.

    With `inputs`, the files and models that it names are not looked at: they were as
    these say.
    """
    plan = _plan(plan_file_of(text, name), inputs)
    if inputs is None:
        _check_values(plan)
    return plan


def _plan(file: PlanFile, inputs: Inputs | None = None) -> Plan:
    """Return the plan that a file says, or what is wrong with it, and where."""
    for name in file.content:
        if name not in NAMES:
            hint = suggestion(name, NAMES) or f"a plan has {', '.join(NAMES)}"
            what = f"there is no {shown(name)!r} in a plan"
            raise file.wrong(what, hint, name, code="plan-key")
    question = _question(file)
    title = file.content.get("title", "")
    if not isinstance(title, str):
        what = f"title is {told(title)}, not a text"
        raise file.wrong(what, "write it in quotes", "title", code="plan-value")
    axes = _axes(file, question)
    settings = _table(file, "settings", question.fields)
    _check_fields(file, question, axes, settings)
    _check_places(file, question, axes, settings)
    limits = Limits(**_table(file, "limits", LIMITS))
    known = inputs or Inputs(question.version)
    plan = Plan(title, question, axes, settings, limits, file, known)
    if plan.size > MOST_CELLS:
        raise file.wrong(
            f"the axes and seeds have {plan.size} combinations",
            f"a sweep has at most {MOST_CELLS} cells: make several plans of it",
            "axes",
            code="plan-too-many-cells",
        )
    return plan


def _question(file: PlanFile) -> Question:
    name = file.content.get("question")
    if not isinstance(name, str) or name not in QUESTIONS:
        what = "question is missing"
        if name is not None:
            what = f"question is {told(name)}, and there is no such one"
        near = suggestion(name, tuple(QUESTIONS)) if isinstance(name, str) else ""
        hint = near or f'write question = "..."; it is one of {", ".join(QUESTIONS)}'
        raise file.wrong(what, hint, "question", code="plan-question")
    return QUESTIONS[name]


def _axes(file: PlanFile, question: Question) -> dict[str, tuple[Any, ...]]:
    """Return the values of every axis, the seed last."""
    given = file.content.get("axes")
    if not isinstance(given, dict) or not given:
        raise file.wrong(
            f"axes is {told(given)}, not a table" if given else "there are no axes",
            "write [axes] and below it what varies, such as horizon = [10, 20, 40]",
            "axes",
            code="plan-axes",
        )
    axes = {name: _axis(file, question, name, given[name]) for name in given}
    return {name: axes[name] for name in axes if name != SEED} | _seeds(file, axes)


def _axis(file: PlanFile, question: Question, name: str, value: Any) -> tuple[Any, ...]:
    field = _field(question, name)
    values = value if isinstance(value, list) else [value]
    if field is None:
        _check_name(file, question, name)
    if not values:
        what = f"{name} has no values"
        hint = f"give one or more, such as {name} = [1, 2]"
        raise file.wrong(what, hint, "axes", name, code="plan-value")
    if field is not None and field.kind is Kind.REAL:
        values = [_as_number(each) for each in values]
    for each in values:
        problem = field.problem(each) if field is not None else _plain(name, each)
        if problem:
            hint = "texts stand in quotes, numbers are finite"
            hint = hint if field is None else f"{name}: {field.about}"
            raise file.wrong(problem, hint, "axes", name, code="plan-value")
    if len({str(each) for each in values}) < len(values):
        raise file.wrong(
            f"{name} has a value twice",
            "write every value once; to repeat cells with other random numbers, write "
            "seeds = 3 above [axes]",
            "axes",
            name,
            code="plan-value-twice",
        )
    return tuple(values)


def _check_name(file: PlanFile, question: Question, name: str) -> None:
    """Refuse names of axes that cannot stand in a text or in the table."""
    if not PLACE.fullmatch(f"{{{name}}}"):
        what = f"an axis is called {shown(name)!r}"
        hint = "use letters, digits, _ and - only"
        raise file.wrong(what, hint, "axes", name, code="plan-key")
    if name in header_of((), question):
        what = f"the axis {name} has the name of a column of the table"
        raise file.wrong(what, "choose another name", "axes", name, code="plan-key")


def _seeds(file: PlanFile, axes: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    if SEED in axes:
        if "seeds" in file.content:
            what = "there are both seeds and an axis seed"
            raise file.wrong(what, "leave one of them out", "seeds", code="plan-twice")
        return {SEED: axes[SEED]}
    count = file.content.get("seeds", 1)
    if not is_number(count) or not isinstance(count, int) or count < 1:
        what = f"seeds is {told(count)}, not a whole number from 1 on"
        hint = "it says how often every cell is run, each time with other random "
        raise file.wrong(what, hint + "numbers", "seeds", code="plan-value")
    if count > MOST_CELLS:
        what, hint = f"seeds is {count}", f"a sweep has at most {MOST_CELLS} cells"
        raise file.wrong(what, hint, "seeds", code="plan-too-many-cells")
    return {SEED: tuple(range(count))}


def _table(file: PlanFile, name: str, fields: tuple[Field, ...]) -> dict[str, Any]:
    given = file.content.get(name, {})
    if not isinstance(given, dict):
        what = f"{name} is {told(given)}, not a table"
        hint = f"write [{name}] and its values below it"
        raise file.wrong(what, hint, name, code="plan-value")
    found, known = {}, {each.name: each for each in fields}
    for key, value in given.items():
        if key not in known:
            near = suggestion(key, tuple(known))
            hint = f"{near} known are {', '.join(known)}".strip()
            what = f"there is no {shown(key)!r} in [{name}]"
            if key in NAMES:
                hint = f"{key} stands above [axes]"
            raise file.wrong(what, hint, name, key, code="plan-key")
        field = known[key]
        found[key] = _as_number(value) if field.kind is Kind.REAL else value
        if problem := field.problem(found[key]):
            hint = f"{key}: {field.about}"
            if isinstance(value, list):
                hint = "[settings] are the same in every cell: what varies is in [axes]"
            raise file.wrong(problem, hint, name, key, code="plan-value")
    return found


def _as_number(value: Any) -> Any:
    """Return 5 as 5.0, so that both name the same cell."""
    return float(value) if type(value) is int and is_number(value) else value


def _plain(name: str, value: object) -> str:
    """Return what is wrong with a value that goes into texts."""
    if isinstance(value, str) or is_number(value):
        return ""
    return f"{name} is {told(value)}, neither a text nor a number"


def _field(question: Question, name: str) -> Field | None:
    return A_SEED if name == SEED else question.field(name)


def _check_fields(
    file: PlanFile,
    question: Question,
    axes: Mapping[str, tuple[Any, ...]],
    settings: Mapping[str, Any],
) -> None:
    """Refuse a plan in which a field is missing or stands twice."""
    for each in question.fields:
        if each.needed and each.name not in {**axes, **settings}:
            what = f"{each.name} is missing"
            hint = f"write {each.name} = ... below [axes]; it is {each.about}"
            raise file.wrong(what, hint, "axes", code="plan-missing")
        if each.name in axes and each.name in settings:
            raise file.wrong(
                f"{each.name} stands in [axes] and in [settings]",
                "leave one of them out",
                "settings",
                each.name,
                code="plan-twice",
            )


def _check_places(
    file: PlanFile,
    question: Question,
    axes: Mapping[str, tuple[Any, ...]],
    settings: Mapping[str, Any],
) -> None:
    """Refuse names in braces that no axis has, and axes that nothing uses."""
    used: set[str] = set()
    for table, name, place in _places(axes, settings):
        what = f"{name} has {{{place}}}, and there is no axis {place}"
        if place not in axes:
            near = suggestion(place, tuple(axes))
            hint = near or f"write {place} = [...] below [axes]"
            raise file.wrong(what, hint, table, name, code="plan-no-axis")
        if any(PLACE.search(each) for each in axes[place] if isinstance(each, str)):
            what = f"{name} has {{{place}}}, and {place} has braces itself"
            hint = "what is put into a text has no braces"
            raise file.wrong(what, hint, table, name, code="plan-no-axis")
        used.add(place)
    for name in axes:
        if _field(question, name) is None and name not in used:
            near = suggestion(name, tuple(each.name for each in question.fields))
            hint = near or f"write {{{name}}} in a text such as that of the model"
            what = f"the axis {name} changes nothing"
            raise file.wrong(what, hint, "axes", name, code="plan-unused-axis")


def _places(
    axes: Mapping[str, tuple[Any, ...]], settings: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Return the names in braces: in which table, at which key, the name."""
    values = [("axes", name, each) for name in axes for each in axes[name]]
    values += [("settings", name, each) for name, each in settings.items()]
    for table, name, each in values:
        if isinstance(each, str):
            yield from ((table, name, place) for place in PLACE.findall(each))


def _check_values(plan: Plan) -> None:
    """Refuse what the question itself refuses, before anything runs."""
    seen: set[tuple[str, ...]] = set()
    used = {place for _, _, place in _places(plan.axes, plan.settings)}
    texts = [
        name
        for name, values in plan.axes.items()
        if name in used or any(isinstance(each, str) for each in values)
    ]
    first = {name: values[0] for name, values in plan.axes.items()}
    for values in product(*(plan.axes[name] for name in texts)):
        asked = plan.asked(first | dict(zip(texts, values, strict=True)))
        for name, check in plan.question.checks:
            told = (name, *(v for v in asked.values() if isinstance(v, str)))
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
