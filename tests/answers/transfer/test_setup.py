"""What is measured is known by the contents of every file that has a part in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simgap.answers.transfer.setup import identity
from simgap.user_files import with_imports

FILES = {
    "make.py": "import physics\nfrom robots import arm\ndef late(): import tools",
    "physics.py": "from constants import *\nimport numpy",
    "constants.py": "import make",  # in a circle
    "tools.py": "",
    "robots/__init__.py": "from . import wheels",
    "robots/arm.py": "from .parts.joint import Joint\nfrom ..outside import that",
    "robots/wheels.py": "",
    "robots/parts/__init__.py": "",
    "robots/parts/joint.py": "class Joint: ...",
    "outside.py": "",
}
OTHERS = ("other.py", "numpy_own.py", "robots/legs.py")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in {**FILES, **dict.fromkeys(OTHERS, "x = 1")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_file_is_read_with_all_that_it_imports_from_its_folder(folder: Path) -> None:
    found = with_imports(folder / "make.py")
    assert {str(each.relative_to(folder)) for each in found} == set(FILES)
    assert found == with_imports(folder / "make.py")


def test_a_file_that_does_not_run_imports_nothing(folder: Path) -> None:
    (folder / "physics.py").write_text("import constants (")
    found = {each.name for each in with_imports(folder / "make.py")}
    assert "physics.py" in found and "constants.py" not in found
    assert with_imports(folder / "nothing.py") == (folder / "nothing.py",)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_module_is_another_measurement(folder: Path, name: str) -> None:
    text = f"{folder}/make.py:make"
    before = identity(text, {"net": text}, {})
    assert identity(text, {"net": text}, {}) == before
    with (folder / name).open("a") as stream:
        stream.write("\n# changed")
    after = identity(text, {"net": text}, {})
    assert [part for part in before if before[part] != after[part]] == [
        "simulator",
        "policy net",
    ]


@pytest.mark.parametrize("name", OTHERS)
def test_a_module_that_nobody_imports_has_no_part_in_it(
    folder: Path, name: str
) -> None:
    before = identity(f"{folder}/make.py:make", {}, {})
    (folder / name).write_text("x = 2")
    assert identity(f"{folder}/make.py:make", {}, {}) == before
