"""What pyproject.toml declares is what is imported, and the other way round.

`.ci/versions` runs the lower bounds, and the newest versions.
"""

from __future__ import annotations

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
MODULES = {  # of distributions that are named otherwise
    "lazy-loader": "lazy_loader",
    "pymdptoolbox": "mdptoolbox",
    "pytest-xdist": "xdist",
    "pyyaml": "yaml",
}
LIBRARY = {  # what users install, and what may import it
    "dependencies": PROJECT["dependencies"],
    **{name: EXTRAS[name] for name in ("continuous", "ray", "interop")},
}
OTHERS = {"test": "tests", "peers": "benchmarks"}
IMPORTS = (
    re.compile(r"^ *import (\w+)[\w.]*(?: as \w+)?(?:  #.*)?$", re.MULTILINE),
    re.compile(r"^ *from (\w+)[\w.]* import ", re.MULTILINE),
    re.compile(r"\b(?:needed|import_module|importorskip)\(\s*\"(\w+)"),
)
NOT_DECLARED = {"llvmlite": "numba asks for the one version that it works with"}
NOT_IMPORTED = {
    "xdist": "an option of pytest asks for it, --numprocesses",
    "yaml": "the library reads files of Isaac Lab with it, and tests have some",
}


def modules(requirements: list[str]) -> set[str]:
    """Return the modules that requirements bring, but for other extras."""
    names = [re.split(r"[<>=\[ ;]", each)[0] for each in requirements]
    return {MODULES.get(each, each) for each in names} - {"simgap"}


def imported(folder: str) -> set[str]:
    """Return what the files of a folder import from elsewhere."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found |= {name for form in IMPORTS for name in form.findall(text)}
    return found - sys.stdlib_module_names - {"simgap"}


def test_the_library_imports_what_it_declares_and_nothing_else() -> None:
    declared = set().union(*map(modules, LIBRARY.values()))
    assert imported("src") - set(NOT_DECLARED) == declared


@pytest.mark.parametrize("extra", OTHERS)
def test_an_extra_for_development_is_imported_there(extra: str) -> None:
    unused = modules(EXTRAS[extra]) - imported(OTHERS[extra]) - set(NOT_IMPORTED)
    assert not unused


def test_extras_are_what_is_known() -> None:
    assert set(EXTRAS) == {*LIBRARY, *OTHERS, "dev"} - {"dependencies"}


def test_every_bound_is_one_that_the_job_can_install() -> None:
    for each in chain(PROJECT["dependencies"], *EXTRAS.values()):
        exact = re.fullmatch(r"[a-z0-9-]+>=[0-9.]+(b[0-9]+)?(,!=[0-9.]+)?", each)
        assert exact or each in {"scipy-stubs"} or each.startswith("simgap["), each
