"""Rounds of jobs: the same numbers on one core or many, in one go or resumed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import Batch, Cube
from simgap.continuous.measuring.campaign import Entry, Measured, measured
from simgap.continuous.measuring.episodes import run_episodes
from simgap.continuous.measuring.jobs import Job, run_job
from simgap.continuous.measuring.kept_jobs import kept_jobs
from simgap.errors import InvalidArgument, InvalidFile
from simgap.ledger import LEDGER, only_driver, read_ledger
from tests.continuous.measuring.line import LineRecipe

ENTRIES = (Entry("half"), Entry("whole"))


def run(built: LineRecipe, episodes: int = 20, **options: object) -> Measured:
    found: Measured = measured(built(), ENTRIES, episodes=episodes, **options)  # type: ignore[arg-type]
    return found


def test_an_entry_of_the_cube_is_the_episode_of_its_seed() -> None:
    work = LineRecipe()()
    cube = run(LineRecipe()).cube
    for policy, point, episode in [(0, 0, 0), (1, 9, 19), (0, 4, 17)]:
        job = Job(policy, (point, point + 1), (episode, episode + 1))
        alone = run_job(work, job)
        assert cube.returns[policy, 0, point, episode] == alone.returns[0, 0]


def test_policies_meet_the_same_start_and_noise() -> None:
    work = LineRecipe()()
    starts: list[list[float]] = []
    for policy in work.policies:
        worlds = work.simulator.instantiate({"gain": np.ones(3)})
        run_episodes(worlds, policy, work.simulator.action, 1, Batch(np.arange(3)))
        starts.append([float(each) for each in worlds.reset(np.arange(3))[:, 0]])
    assert starts[0] == starts[1]
    returns = run(LineRecipe(), 64).cube.returns
    paired = np.corrcoef(returns[0].ravel(), returns[1].ravel())[0, 1]
    assert paired > 0.5
    shuffled = np.random.default_rng(0).permutation(returns[1].ravel())
    assert abs(np.corrcoef(returns[0].ravel(), shuffled)[0, 1]) < 0.2


@pytest.mark.parametrize("rows", [3, 64, 512])
def test_rows_side_by_side_change_nothing(rows: int) -> None:
    assert np.array_equal(
        run(LineRecipe(rows=rows)).cube.returns, run(LineRecipe()).cube.returns
    )


def test_two_workers_give_the_same_numbers_as_one() -> None:
    recipe = LineRecipe(rows=4)
    alone, both = run(recipe), run(recipe, recipe=recipe, workers=2)
    assert np.array_equal(alone.cube.returns, both.cube.returns)
    assert alone.steps == both.steps
    assert alone.clipped == both.clipped


def test_a_process_that_dies_costs_only_the_episodes_that_kill_it() -> None:
    deadly = LineRecipe(points=6, kills=1.4, rows=4)
    found = run(deadly, 2, recipe=deadly, workers=2)
    fine = run(LineRecipe(points=6, rows=4), 2)
    assert np.array_equal(found.cube.returns[:, :, :5], fine.cube.returns[:, :, :5])
    assert np.isnan(found.cube.returns[:, :, 5]).all()
    assert {(f.code, f.point) for f in found.cube.failures} == {("process-died", 5)}
    assert len(found.cube.failures) == 4


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    recipe = LineRecipe()
    whole = run(recipe)
    run(recipe, 16, folder=tmp_path, identity={"what": "line"})
    with kept_jobs(tmp_path, {"what": "line"}) as jobs:
        kept = jobs.find(Job(0, (0, 10), (7, 8)))
    assert kept is not None
    assert np.array_equal(kept.returns, whole.cube.returns[0, 0, :, 7:8])
    told: list[str] = []
    more = run(recipe, folder=tmp_path, identity={"what": "line"}, progress=told.append)
    assert np.array_equal(more.cube.returns, whole.cube.returns)
    assert more.steps == whole.steps


def test_a_folder_of_another_measurement_is_refused(tmp_path: Path) -> None:
    run(LineRecipe(), 2, folder=tmp_path, identity={"seed": "5", "policy": "a"})
    with pytest.raises(InvalidFile) as error:
        run(LineRecipe(), 2, folder=tmp_path, identity={"seed": "6", "policy": "a"})
    assert error.value.code == "another-measurement"
    assert "seed" in error.value.problem
    assert "policy" not in error.value.problem


def test_a_folder_has_one_driver(tmp_path: Path) -> None:
    """The same process may open a folder twice, another one or a thread may not."""
    with only_driver(tmp_path), ThreadPoolExecutor(1) as pool:
        found = pool.submit(run, LineRecipe(), 2, folder=tmp_path, identity={})
        with pytest.raises(InvalidFile) as error:
            found.result()
    assert error.value.code == "folder-in-use"


def test_a_return_that_stops_a_measurement_leaves_the_jobs_before_it(
    tmp_path: Path,
) -> None:
    work = replace(LineRecipe()(), declared=(-1.0, 0.0))
    with pytest.raises(InvalidArgument):
        measured(work, ENTRIES, episodes=3, folder=tmp_path)
    with read_ledger(tmp_path, "measurement") as ledger:
        assert ledger.statuses()


def test_a_damaged_ledger_is_refused(tmp_path: Path) -> None:
    run(LineRecipe(), 2, folder=tmp_path, identity={})
    path = tmp_path / LEDGER
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(InvalidFile) as error:
        run(LineRecipe(), 2, folder=tmp_path, identity={})
    assert error.value.code == "damaged-ledger"


def test_rounds_go_on_until_it_is_enough() -> None:
    looks: list[tuple[int, int]] = []

    def more(cube: Cube, *, look: int, steps: int) -> int | None:
        looks.append((look, int(cube.returns.shape[-1])))
        return 2 * looks[-1][1] if look < 3 else None

    found = run(LineRecipe(), 5, more=more)
    assert looks == [(1, 5), (2, 10), (3, 20)]
    assert found.looks == 3
    assert np.array_equal(found.cube.returns, run(LineRecipe(), 20).cube.returns)


def test_training_seeds_have_an_axis_of_their_own() -> None:
    work = LineRecipe()()
    cube = measured(work, (Entry("p", 0), Entry("p", 1)), episodes=3).cube
    assert cube.policies == ("p",)
    assert cube.returns.shape == (1, 2, 10, 3)
    assert np.isfinite(cube.returns).all()


def test_a_return_that_is_said_to_be_impossible_stops_the_measurement() -> None:
    work = replace(LineRecipe()(), declared=(-1.0, 0.0))
    with pytest.raises(InvalidArgument) as error:
        measured(work, ENTRIES, episodes=3)
    assert error.value.code == "bounds-broken"
    assert "gain=" in error.value.problem
