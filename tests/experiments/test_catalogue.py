"""The table of claims is complete, cheap to read, and helpful about names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import simgap.experiments
from simgap.errors import InvalidArgument
from simgap.experiments.catalogue import (
    CLAIMS,
    claim_names,
    named_claims,
)
from simgap.records import ClaimVerdict

ROOM = Path(simgap.experiments.__file__).parent
ERRATA = Path(__file__).parents[2] / "docs" / "errata.md"


def modules_with_a_claim() -> set[str]:
    return {
        f"{path.parent.name}.{path.stem}"
        for path in ROOM.glob("*/*.py")
        if re.search(r"^CLAIM\b.*=", path.read_text(), re.MULTILINE)
    }


def test_every_module_with_a_claim_is_listed_once() -> None:
    homes = [home for _, home in CLAIMS]
    assert sorted(homes) == sorted(modules_with_a_claim())
    assert len(set(claim_names())) == len(CLAIMS)


@pytest.mark.parametrize("name", claim_names())
def test_a_claim_is_what_its_entry_says(name: str) -> None:
    (claim,) = named_claims((name,))
    assert claim.name == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert claim.title and claim.source
    assert claim.statement.endswith((".", ".)"))
    assert claim.expected in (ClaimVerdict.HOLDS, ClaimVerdict.REFUTED)


@pytest.mark.parametrize("name", claim_names())
def test_errata_of_a_claim_exist(name: str) -> None:
    (claim,) = named_claims((name,))
    known = set(re.findall(r"^\| (E\d+) \|", ERRATA.read_text(), re.MULTILINE))
    assert set(claim.errata) <= known


def test_no_name_means_all_and_a_name_twice_means_once() -> None:
    assert [claim.name for claim in named_claims(())] == list(claim_names())
    twice = named_claims(("control", "lemma-6", "control"))
    assert [claim.name for claim in twice] == ["control", "lemma-6"]


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(InvalidArgument, match="there is no claim 'thorem-3'") as error:
        named_claims(("lemma-6", "thorem-3"))
    assert "did you mean theorem-3?" in error.value.hint
    assert "lemma-1-finite" in error.value.hint  # the list
    with pytest.raises(InvalidArgument) as error:
        named_claims(("x" * 1000,))
    assert len(error.value.problem) < 100
    assert "did you mean" not in error.value.hint


def test_reading_the_table_imports_no_claim() -> None:
    code = (
        "import sys, simgap.experiments.catalogue as c; c.claim_names(); "
        "late = [m for m in sys.modules if m in ('numpy', 'numba', 'scipy')]; "
        "assert not late, late"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
