"""Every reference to the theory, its rows and the errata leads somewhere."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
THEORY = ROOT / "docs" / "theory"
CHAPTERS = {
    "1": "definitions.md",
    "2": "definitions.md",
    "3": "algorithms.md",
    "4": "results.md",
    "5": "planning.md",
    "6": "test-oracles.md",
    "7": "extensions.md",
}

HEADING = re.compile(r'^#+ <a id="([^"]*)"></a>(\S+) \S', re.MULTILINE)
ROW = re.compile(r'^\| <a id="row-([^"]*)"></a>(\S+) \|', re.MULTILINE)

# `theory 4.6`, `theory 4.3-4.5`, `theory 4.9, rows 23-26`, `theory rows 2, 6 and 21b`
ITEM = r"(?:rows? )?\d[\d.]*[a-z]?\b"
REFERENCE = re.compile(
    rf"\btheory ({ITEM}(?:(?:, and |, | and | to |-){ITEM})*)", re.IGNORECASE
)
ERRATUM = re.compile(r"\berrata ((?:E?\d+)(?:(?:, | and |-)E\d+)*)", re.IGNORECASE)
NAME = re.compile(r"\brow_(\d+b?)|(?:_row|\brows?|_rows)_(\d+b?)(?:_(?:to|and)_(\d+))?")
OLD = re.compile(r"\bspec \d|\bspec_\d|of_the_spec\b|\bthe specification\b", re.I)
BARE_ROW = re.compile(r"\brows? \d+b?\b", re.IGNORECASE)
OTHER_ROWS = (  # of matrices and gridworlds
    "row 0 of a sparse kernel",
    "row -1 is row 1 backwards",
    "row 1, column 0",
    "row 1: mass",
)


@cache
def headings() -> frozenset[str]:
    """Return the numbers of all headings of the theory."""
    pages = sorted(THEORY.glob("*.md"))
    return frozenset(m[2] for page in pages for m in HEADING.finditer(page.read_text()))


@cache
def rows() -> tuple[str, ...]:
    """Return the names of all rows of the test oracles, in order."""
    text = (THEORY / "test-oracles.md").read_text()
    return tuple(m[2] for m in ROW.finditer(text))


@cache
def errata() -> frozenset[str]:
    text = (ROOT / "docs" / "errata.md").read_text()
    return frozenset(re.findall(r"^\| E(\d+) \|", text, re.MULTILINE))


def problems(text: str) -> list[str]:
    """Return what in a text refers to theory that does not exist, or in an old form."""
    flat = re.sub(r"\s*\n\s*(?:# )?", " ", text)
    for words in OTHER_ROWS:
        flat = flat.replace(words, "")
    found = [m[0] for m in REFERENCE.finditer(flat) if not _theory_resolves(m[1])]
    found += [m[0] for m in ERRATUM.finditer(flat) if not _errata_resolve(m[1])]
    for match in NAME.finditer(flat):
        found += [match[0] for name in match.groups() if name and name not in rows()]
    found += [m[0] for m in OLD.finditer(flat)]
    found += [m[0] for m in BARE_ROW.finditer(REFERENCE.sub("", flat))]
    return found


def _theory_resolves(reference: str) -> bool:
    """Whether all sections and rows exist; what follows the word row is a row."""
    sections, _, named = re.sub(r"\b[Rr]ows?\b", "row", reference).partition("row ")
    numbers = [n.rstrip(".") for n in re.findall(r"\d[\d.]*[a-z]?", sections)]
    if not all(number in headings() for number in numbers):
        return False
    for first, _, last in re.findall(r"(\d+[a-z]?)((?:-| to )(\d+[a-z]?))?", named):
        if first not in rows() or (last and last not in rows()):
            return False
        if last and rows().index(first) >= rows().index(last):
            return False
    return True


def _errata_resolve(reference: str) -> bool:
    numbers = re.findall(r"E(\d+)", reference)
    return reference.startswith("E") and set(numbers) <= errata()


def texts() -> list[Path]:
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for folder in ("src", "tests", "benchmarks", "docs"):
        found += [
            path
            for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in (".py", ".md", ".toml", ".html", ".j2")
        ]
    return [path for path in found if path != Path(__file__)]


def test_every_reference_leads_to_a_heading_or_a_row() -> None:
    """Write `theory 4.6` or `theory row 21b`: docs/theory/README.md explains it."""
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in texts()
        if (wrong := problems(path.read_text()))
    }
    assert not found


def test_there_are_references_to_check() -> None:
    text = "".join(path.read_text() for path in texts())
    assert len(REFERENCE.findall(text)) > 200
    assert len(ERRATUM.findall(text)) > 50


@pytest.mark.parametrize(
    "words",
    [
        "(theory 4.99)",
        "Theory 4.1d",
        "theory 4.3-4.99",
        "theory 4.9, rows 23-99",
        "theory\n    row 21c",
        "Theory rows 3 and 42",
        "theory rows 26-23",
        "errata E77",
        "errata 17",
        "as spec 4.6 says",
        "of_the_spec",
        "Row 27 has six",
        "def test_row_99_is_not_there",
        "def test_rows_3_to_99",
    ],
)
def test_a_made_up_reference_is_noticed(words: str) -> None:
    assert problems(words)


@pytest.mark.parametrize(
    "words",
    [
        "(theory 4.6).",
        "theory 4.3-4.5 and 4.1c",
        "theory 4.9, rows 23-26",
        "theory\n# rows 2, 6 and 21b",
        "Theory 4.7.4: item",
        "errata E23-E25",
        "errata E7, E9 and E10",
        "rows of a matrix",
        "def test_rows_29_to_31_are_met",
    ],
)
def test_a_reference_that_exists_is_not_complained_of(words: str) -> None:
    assert not problems(words)


def test_headings_stand_once_in_the_page_of_their_chapter() -> None:
    seen: list[str] = []
    for page in sorted(THEORY.glob("*.md")):
        for anchor, number in HEADING.findall(page.read_text()):
            assert anchor == number
            assert CHAPTERS[number.split(".")[0]] == page.name
            seen.append(number)
    assert len(seen) == len(set(seen)) > 50


def test_rows_stand_once_and_in_order() -> None:
    text = (THEORY / "test-oracles.md").read_text()
    assert all(anchor == name for anchor, name in ROW.findall(text))
    numbers = [int(name.rstrip("b")) for name in rows()]
    assert numbers == sorted(numbers) and len(set(rows())) == len(rows())
    assert set(range(1, 42)) == set(numbers)


def test_links_to_anchors_lead_somewhere() -> None:
    for page in texts():
        if page.suffix != ".md":
            continue
        for target, anchor in re.findall(
            r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text()
        ):
            goal = page if not target else page.parent / target
            assert anchor in anchors(goal), f"{page.name}: {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: written ones, and those made of its headings."""
    text = page.read_text()
    found = set(re.findall(r'<a id="([^"]+)">', text))
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        words = re.sub(r"<[^>]*>|[^\w\s-]", "", heading).strip().lower()
        found.add(re.sub(r"\s", "-", words))
    return found
