"""The table of claims is complete, cheap to read, and helpful about names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import simgap.experiments
from simgap.errors import InvalidArgument
from simgap.experiments.catalogue import (
    CLAIMS,
    claim_names,
    named_claims,
)
from simgap.records.claim import ClaimVerdict

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


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(InvalidArgument, match="there is no claim 'thorem-3'") as error:
        named_claims(("lemma-6", "thorem-3"))
    assert "did you mean theorem-3?" in error.value.hint
    assert "lemma-1-finite" in error.value.hint  # the list
    with pytest.raises(InvalidArgument) as error:
        named_claims(("x" * 1000,))
    assert len(error.value.problem) < 100
    assert "did you mean" not in error.value.hint
