"""Files of a finished sweep that are damaged: noticed, or made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from simgap.cli.app.main import main
from simgap.errors import InvalidFile
from simgap.ledger import LEDGER
from simgap.sweeps.state import status
from tests.sweeps.small import Here, swept


@pytest.mark.parametrize("verb", ["status", "resume", "retry", "export"])
def test_a_damaged_ledger_is_refused(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    swept(folder)
    path = folder / LEDGER
    right = path.read_bytes()
    path.write_bytes(right[: len(right) // 2])
    table = (folder / "table.csv").read_bytes()
    words = [verb, str(folder), *([str(tmp_path / "t.csv")] * (verb == "export"))]
    assert main(words) == 2
    assert str(folder) in capsys.readouterr().err
    with pytest.raises(InvalidFile) as error:
        status(folder)
    assert error.value.code == "damaged-ledger"
    assert (folder / "table.csv").read_bytes() == table
    path.write_bytes(right)  # the control
    assert main(words) == 0


@pytest.mark.parametrize("name", ["sweep.json", "table.csv", "report.html"])
def test_copies_of_what_the_ledger_has_are_written_again(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    swept(folder)
    right = (folder / "table.csv").read_bytes()
    (folder / name).write_bytes(b"damaged")
    here = Here()
    found = swept(folder, engine=here)
    assert (found.done, found.reused, here.ran) == (16, 16, [])
    assert (folder / "table.csv").read_bytes() == right
