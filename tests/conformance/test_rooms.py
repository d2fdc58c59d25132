"""A room's own list of names is its door: other rooms come in there or not at all."""

import ast
from pathlib import Path

import pytest

import simgap

HOUSE = Path(simgap.__file__).parent
KERNELS = ("solving", "beliefs", "walking", "agents")
ROOMS = sorted(
    [each.parent for each in HOUSE.glob("*/__init__.py") if each.parent.name[0] != "_"]
    + [HOUSE / "_kernels" / name for name in KERNELS]
)
FILES = sorted(HOUSE.rglob("*.py"))


def room_of(path: Path) -> Path | None:
    return next((room for room in ROOMS if room in path.parents or room == path), None)


def imports(source: str) -> list[tuple[str, str]]:
    """Return (module, name) of every import from simgap."""
    return [
        (node.module, each.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
        if node.module.startswith("simgap")
    ]


def past_the_door(me: Path, module: str, name: str) -> bool:
    """Return whether an import reaches into a room of others."""
    target = HOUSE.parent.joinpath(*module.split("."))
    whole = target / name if (target / f"{name}.py").exists() else target
    theirs, mine = room_of(whole), room_of(me)
    if theirs is None or theirs == mine:
        return False
    if HOUSE / "_kernels" in me.parents and HOUSE / "_kernels" in theirs.parents:
        return False  # kernels call each other directly: nothing stands between them
    return target != theirs


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(HOUSE).as_posix())
def test_other_rooms_are_entered_by_the_door(path: Path) -> None:
    found = [
        f"{module}: {name}"
        for module, name in imports(path.read_text())
        if past_the_door(path, module, name)
    ]
    assert not found


def test_reaching_past_a_door_is_noticed() -> None:
    me = HOUSE / "gap" / "exact.py"
    assert past_the_door(me, "simgap.oracle.settings", "AutoOracle")
    assert past_the_door(me, "simgap._kernels.solving.episodic", "anything")
    assert not past_the_door(me, "simgap.oracle", "AutoOracle")
    assert not past_the_door(me, "simgap.gap.measure", "worst_of")
    assert not past_the_door(me, "simgap.errors", "InvalidArgument")


@pytest.mark.parametrize(
    "room",
    [each for each in (HOUSE, *ROOMS) if (each / "__init__.pyi").exists()],
    ids=lambda p: p.name,
)
def test_every_listed_name_is_there_and_used_once(room: Path) -> None:
    from importlib import import_module

    module = import_module(".".join(room.relative_to(HOUSE.parent).parts))
    for name in module.__all__:
        assert getattr(module, name) is not None
    listed = imports((room / "__init__.pyi").read_text())
    assert len({name for _, name in listed}) == len(listed)


def test_a_listed_name_is_not_taken_by_a_module_of_the_same_name() -> None:
    from importlib import import_module

    import_module("simgap.answers.audit.audit")
    answers = import_module("simgap.answers")
    assert callable(answers.audit)
    assert answers.audit is simgap.audit
