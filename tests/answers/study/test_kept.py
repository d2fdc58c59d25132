"""What a study made is removed, and nothing else."""

from __future__ import annotations

from pathlib import Path

from simgap.answers.study.kept import FILES, PLAN, WIDTH, forget
from simgap.answers.study.kinds import kinds_of


def test_a_study_forgets_what_it_made_even_if_its_plan_is_damaged(
    tmp_path: Path,
) -> None:
    trainings = [each.name for each in kinds_of(2, window=True)]
    assert set(trainings) > {each.name for each in kinds_of(2, window=False)}
    for name in (*trainings, WIDTH, "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    for name in (*FILES, "notes.txt"):
        (tmp_path / name).write_text("{}")
    forget(tmp_path)
    left = {each.name for each in tmp_path.iterdir()} - {"driver.lock"}
    assert left == {"mine", "notes.txt"}


def test_trainings_that_no_plan_names_are_not_a_studys(tmp_path: Path) -> None:
    (tmp_path / "gru").mkdir()
    assert not (tmp_path / PLAN).exists()
    forget(tmp_path)
    assert (tmp_path / "gru").is_dir()
