"""Files of a finished sweep that are damaged: noticed, and made again."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from simgap.cli.app.main import main
from simgap.errors import InvalidFile
from simgap.ledger.seal import LEDGER, SEAL
from simgap.sweeps import QUESTIONS, export_table, resume, status, verify
from simgap.sweeps.fields import Found
from simgap.sweeps.kept import FILES
from tests.sweeps.small import RIVERS, Here, changed, swept

COPIES = ("sweep.json", "table.csv", "plan-copy.toml")  # of what the ledger has


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    swept(folder)
    return folder


def damaged(path: Path, rng: random.Random) -> None:
    """Flip a bit, or cut the file off."""
    content = bytearray(path.read_bytes())
    at = rng.randrange(len(content))
    if rng.random() < 0.5:
        content[at] ^= 1 << rng.randrange(8)
    else:
        del content[at:]
    path.write_bytes(content)


def cases(whole: Path, place: Path, many: int) -> Iterator[tuple[str, Path]]:
    """Return copies of a sweep, each with one damaged file."""
    rng = random.Random(many)
    names = (LEDGER, SEAL, LEDGER, *COPIES)
    for case in range(many):
        folder, name = place / f"{case}", names[case % len(names)]
        shutil.copytree(whole, folder)
        damaged(folder / name, rng)
        yield name, folder
        shutil.rmtree(folder)


def check_all(whole: Path, place: Path, many: int) -> Counter[str]:
    """Return how often each kind of file was damaged; none of it was overlooked."""
    right = (whole / "table.csv").read_bytes()
    found: Counter[str] = Counter()
    for name, folder in cases(whole, place, many):
        found[name] += 1
        if name in COPIES:  # they are not read: the next run writes them again
            assert status(folder).done == 16
            here = Here()
            resume(folder, engine=here)
            assert not here.ran
            if name != "sweep.json":  # it has the date and the path in it
                assert (folder / name).read_bytes() == (whole / name).read_bytes()
        else:
            for act in (status, verify, resume):
                with pytest.raises(InvalidFile) as error:
                    act(folder)
                assert error.value.code == "damaged-ledger"
            with pytest.raises(InvalidFile) as error:
                export_table(folder, folder / "t.csv")
            assert error.value.code == "damaged-ledger"
            here = Here()
            resume(folder, repair=True, engine=here)
            assert name == LEDGER or not here.ran  # the seal has no cells
            assert (folder / "ledger-damaged-1").is_dir()
        assert (folder / "table.csv").read_bytes() == right
        export_table(folder, folder / "t.csv")
        assert (folder / "t.csv").read_bytes() == right
        found = verified(folder, found)
    return found


def verified(folder: Path, found: Counter[str]) -> Counter[str]:
    """Return the counts; a few of the sweeps are computed once more."""
    if found.total() % 25 == 1:
        again = verify(folder, cells=100, engine=Here())
        assert again.equal == again.checked == 16
    return found


def test_a_damaged_file_is_noticed_and_the_same_table_comes_back(
    whole: Path, tmp_path: Path
) -> None:
    found = check_all(whole, tmp_path, 30)
    assert found == {LEDGER: 10, SEAL: 5, **dict.fromkeys(COPIES, 5)}


@pytest.mark.slow
def test_three_hundred_damaged_files_are_noticed(whole: Path, tmp_path: Path) -> None:
    found = check_all(whole, tmp_path, 300)
    print(dict(found))
    assert found[LEDGER] == 100


def test_files_that_cells_made_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy that is gone or not what it was is trained again, and no other."""

    def trained(asked: object, seed: int, folder: str) -> Found:
        return Found({"converged": True}, (), {".onnx": f"weights {seed}".encode()})

    train = replace(QUESTIONS["train"], answer=trained, checks=())
    monkeypatch.setitem(QUESTIONS, "train", train)
    text = """question = "train"
seeds = 3
[axes]
simulator = "pendulum"
randomize = "mass=0.9..1.1"
trainer = "none"
"""
    folder = tmp_path / "run"
    swept(folder, text)
    files = sorted((folder / FILES).iterdir())
    assert len(files) == 3
    table = (folder / "table.csv").read_bytes()
    right = [each.read_bytes() for each in files]
    damaged(files[0], random.Random(1))
    files[1].unlink()
    here = Here()
    found = resume(folder, engine=here)
    assert (found.done, found.reused) == (3, 1)
    assert {each.key for each in here.ran} == {each.stem for each in files[:2]}
    assert [each.read_bytes() for each in files] == right
    assert (folder / "table.csv").read_bytes() == table


def test_a_plan_that_is_lost_with_the_ledger_is_in_its_copy(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    (folder / LEDGER).unlink()
    here = Here()
    found = resume(folder, repair=True, engine=here)
    assert (found.done, len(here.ran)) == (16, 16)
    assert (folder / "table.csv").read_bytes() == (whole / "table.csv").read_bytes()
    (folder / LEDGER).unlink()
    (folder / "plan-copy.toml").write_text("question = 3\n")
    with pytest.raises(InvalidFile) as error:
        resume(folder, repair=True)
    assert error.value.code == "lost-plan"
    assert swept(folder).done == 16  # the way out that is told


def test_after_a_repair_the_newer_plan_counts_and_failed_cells_are_run(
    tmp_path: Path,
) -> None:
    """Rows that are lost may be the later ones of a plan or of a cell."""
    import sqlite3

    folder = tmp_path / "run"
    swept(folder, changed(RIVERS, ("[3, 4]", "[3]")))
    swept(folder)
    right = (folder / "table.csv").read_bytes()
    with sqlite3.connect(folder / LEDGER) as connection:
        plans = "SELECT place FROM rows WHERE key = 'sweep/plan' ORDER BY place"
        (_, (second,)) = connection.execute(plans).fetchall()
        connection.execute("UPDATE rows SET status = '' WHERE place = ?", (second,))
    connection.close()
    found = resume(folder, repair=True, engine=Here())
    assert (found.cells, found.done) == (16, 16)
    assert (folder / "table.csv").read_bytes() == right


def test_there_is_nothing_to_repair_where_there_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as error:
        resume(tmp_path, repair=True)
    assert error.value.code == "no-ledger"
    assert not any(each.is_dir() for each in tmp_path.iterdir())
    assert main(["resume", str(tmp_path), "--repair"]) == 2
