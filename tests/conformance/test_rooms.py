"""The names that a package lists are all that others import from it."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import simgap

HOUSE = Path(simgap.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))
LISTING = {
    path.parent
    for path in HOUSE.glob("*/**/__init__.py")
    if "__all__" in path.read_text(encoding="utf-8")
}


def imports(source: str) -> list[tuple[str, str]]:
    """Return (module, name) of every import from simgap."""
    return [
        (node.module, each.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
        if node.module.startswith("simgap")
    ]


def is_unlisted(importer: Path, module: str, name: str) -> bool:
    """Return whether an import passes by the list of a package of another room."""
    source = HOUSE.parent.joinpath(*module.split("."))
    if source == HOUSE or room_of(source) == room_of(importer):
        return False
    if source in LISTING:
        return name not in import_module(module).__all__
    return any(each in LISTING for each in source.parents)


def room_of(path: Path) -> str:
    return path.relative_to(HOUSE).parts[0]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(HOUSE).as_posix())
def test_other_packages_are_used_by_their_listed_names(path: Path) -> None:
    found = [
        f"{module}: {name}"
        for module, name in imports(path.read_text(encoding="utf-8"))
        if is_unlisted(path, module, name)
    ]
    assert not found


def test_passing_by_a_list_is_noticed() -> None:
    importer = HOUSE / "gap" / "exact.py"
    assert is_unlisted(importer, "simgap.oracle.settings", "AutoOracle")
    assert is_unlisted(importer, "simgap.oracle", "settings")
    assert is_unlisted(importer, "simgap.base_policies.paper.elimination", "anything")
    assert not is_unlisted(importer, "simgap.oracle", "AutoOracle")
    assert not is_unlisted(importer, "simgap.gap.measure", "worst_of")
    assert not is_unlisted(importer, "simgap._kernels.solving.episodic", "anything")
    assert not is_unlisted(importer, "simgap.errors", "InvalidArgument")


@pytest.mark.parametrize(
    "package",
    sorted({HOUSE, *LISTING}),
    ids=lambda p: p.relative_to(HOUSE.parent).as_posix(),
)
def test_every_listed_name_is_there(package: Path) -> None:
    module = import_module(".".join(package.relative_to(HOUSE.parent).parts))
    assert all(getattr(module, name) is not None for name in module.__all__)
