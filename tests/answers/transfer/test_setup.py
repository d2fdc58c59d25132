"""A measurement is known by the contents of every file that has a part in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simgap.answers.transfer.setup import identity

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
