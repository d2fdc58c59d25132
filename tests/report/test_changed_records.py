"""A record that is not what simgap wrote is named on the page, and still drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.cli.app.main import main
from simgap.ledger import LEDGER, forget_ledger, opened_ledger
from simgap.report.folder import read_folder
from tests.report.explorer_cases import page_of, whole_folder

CHANGED, UNKNOWN = 'id="changed"', 'id="unsealed"'


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with ledgers, as study and reproduce leave them."""
    folder = tmp_path / "records"
    for each in (folder, folder / "claims"):
        each.mkdir()
        with opened_ledger(each, "answers"):
            pass
    return whole_folder(folder)


def edited(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))


def test_records_as_they_were_written_need_no_word(kept: Path) -> None:
    page = page_of(kept)
    assert CHANGED not in page and UNKNOWN not in page
    forget_ledger(kept)  # and of other folders nobody knows
    edited(kept / "gap.json", b'"lower"', b' "lower"')
    assert CHANGED not in page_of(kept)


def test_changed_records_are_named_and_drawn(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(kept / "gap.json", b'"upper"', b' "upper"')
    edited(kept / "claims" / "theorem-10.json", b'"undecided"', b'"holds"')
    (kept / "run.json").unlink()
    found = read_folder(kept)
    names = ("gap.json", "run.json", "claims/theorem-10.json")
    assert found.changed == names and not found.unsealed
    assert len(found.parts) == 5 and not found.troubles
    page = page_of(kept)
    said = page[page.index(CHANGED) :].split("</p>")[0]
    assert page.index(CHANGED) < page.index("<main>")
    assert all(each in said for each in names) and "oracle.json" not in said
    assert main(["report", str(kept), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == list(names)
    assert main(["report", str(kept)]) == 0
    assert "gap.json" in capsys.readouterr().out


def test_a_ledger_that_is_damaged_is_told(kept: Path) -> None:
    path = kept / LEDGER
    path.write_bytes(path.read_bytes()[:5_000])
    found = read_folder(kept)
    assert found.unsealed and len(found.parts) == 6
    assert UNKNOWN in page_of(kept)


def test_a_ledger_of_a_stranger_names_nothing_outside(kept: Path) -> None:
    with opened_ledger(kept, "records") as ledger:
        for name in ("../secret.json", "/etc/passwd", "claims/x.json", "<b>.json"):
            ledger.keep(name, b"")
    assert read_folder(kept).changed == ("<b>.json",)
    assert "<b>.json" not in page_of(kept)
