"""Lost workers, machines and drivers on a Ray cluster: no cell is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

import pytest

from tests.sessions import interrupt
from tests.sweeps.ray_cluster import RayCluster, ray_cluster

pytestmark = pytest.mark.slow

CELLS = 2_100
PLAN = """question = "gap"
seeds = 35
[axes]
model = "riverswim?states={states}&success=0.3,0.6"
states = [3, 4, 5]
horizon = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
policy = ["random", "zero"]
[settings]
runs = 4
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(1, 1, 1) as found:
        yield found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("ray")
    (found / "plan.toml").write_text(PLAN)
    return found


@pytest.fixture(scope="module")
def local(place: Path, cluster: RayCluster) -> bytes:
    """The table that the processes of this machine come to."""
    process = started(place, cluster, "sweep", "plan.toml", "--out", "local")
    assert finished(process)["done"] == CELLS
    return (place / "local" / "table.csv").read_bytes()


def started(place: Path, cluster: RayCluster, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simgap.cli.app.main", *words, "--json"],
        cwd=place,
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def on_ray(place: Path, cluster: RayCluster, *words: str) -> subprocess.Popen[str]:
    return started(
        place, cluster, *words, "--engine", "ray", "--address", cluster.address
    )


def finished(process: subprocess.Popen[str]) -> dict[str, object]:
    """Wait for a command; return its answer, which is all that it prints."""
    told, said = process.communicate(timeout=1_200)
    assert process.returncode == 0, said
    answer: dict[str, object] = json.loads(told)
    return answer


def rows(folder: Path) -> int:
    """Return how many cells a ledger has; fail if it has one twice."""
    if not (folder / "ledger.sqlite").exists():
        return 0
    with closing(sqlite3.connect(folder / "ledger.sqlite", timeout=30)) as ledger:
        try:
            asked = "SELECT key FROM rows WHERE status = 'done' AND key LIKE 'sweep/%'"
            found = ledger.execute(asked)
        except sqlite3.OperationalError:  # there is no table yet
            return 0
        keys = [key for (key,) in found]
    assert len(set(keys)) == len(keys)
    return len(keys)


def wait_until(folder: Path, cells: int) -> None:
    """Wait until a ledger has more than so many cells."""
    deadline = time.monotonic() + 1_200.0
    while rows(folder) <= cells:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_nodes_and_workers_that_are_lost_cost_no_cell(
    place: Path, cluster: RayCluster, local: bytes
) -> None:
    """Sweep after sweep, until enough of both were lost while cells ran."""
    rng, kills, removed = random.Random(1), 0, 0
    for attempt in count():
        folder, lost = place / f"lost-{attempt}", 0
        process = on_ray(place, cluster, "sweep", "plan.toml", "--out", folder.name)
        while process.poll() is None:
            done = rows(folder)
            if kills and done > 400 * (lost + 1) and lost < 3:
                cluster.tell("remove")
                cluster.tell("add")
                lost += 1
            elif done > 50 and kills < 40:
                alive = cluster.workers()
                kills += bool(alive) and cluster.kill(rng.choice(alive))
            time.sleep(rng.uniform(0.0, 2.0))
        assert finished(process)["done"] == CELLS
        assert rows(folder) == CELLS
        assert (folder / "table.csv").read_bytes() == local
        removed += lost
        if kills >= 5 and removed >= 2:
            break


def test_a_driver_that_is_killed_goes_on_where_it_was(
    place: Path, cluster: RayCluster, local: bytes
) -> None:
    """If it had not ended before it was killed."""
    words: tuple[str, ...] = ("sweep", "plan.toml", "--out", "killed")
    before = 0
    for _ in range(3):
        process = on_ray(place, cluster, *words)
        wait_until(place / "killed", min(before + 100, CELLS - 1))
        process.kill()
        process.communicate()
        before = rows(place / "killed")
        words = ("resume", "killed")
    answer = finished(on_ray(place, cluster, *words))
    assert answer["done"] == CELLS
    assert answer["reused"] == before
    assert (place / "killed" / "table.csv").read_bytes() == local


def test_ctrl_c_ends_what_runs_and_a_second_one_stops(
    place: Path, cluster: RayCluster, local: bytes
) -> None:
    """If it has not ended before."""
    folder, words = place / "stopped", ("sweep", "plan.toml", "--out", "stopped")
    for times in (1, 2):
        before = rows(folder)
        process = on_ray(place, cluster, *words)
        wait_until(folder, min(before + 50, CELLS - 1))
        for _ in range(times):
            with suppress(ProcessLookupError):
                interrupt(process.pid)
        told = process.communicate(timeout=600)[0]
        if process.returncode == 0:
            assert rows(folder) == CELLS
        else:
            assert (process.returncode, told) == (130, "")
            assert before <= rows(folder) <= CELLS
    assert finished(on_ray(place, cluster, *words))["done"] == CELLS
    assert (folder / "table.csv").read_bytes() == local


SLURM = {
    "srun": """
while [[ $1 == --* ]]; do shift; done
if [[ $1 == hostname ]]; then echo 127.0.0.1; exit; fi
exec "$@"
""",
    "scontrol": """
if [[ $1 == show ]]; then echo this; else echo "$@" >> requeued; fi
""",
}


def test_a_job_of_slurm_goes_on_when_it_is_requeued(
    place: Path, cluster: RayCluster, local: bytes
) -> None:
    """Stand-ins have the places of srun and scontrol, one node has that of many."""
    tools = place / "tools"
    tools.mkdir()
    for name, text in SLURM.items():
        (tools / name).write_text(f"#!/bin/bash\n{text}")
        (tools / name).chmod(0o755)
    environment = {
        **cluster.environment,
        "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_JOB_NODELIST": "this",
        "SLURM_CPUS_PER_TASK": "2",
    }

    def job() -> subprocess.Popen[str]:
        script = Path(__file__).parents[2] / "examples" / "ray_on_slurm.sh"
        return subprocess.Popen(
            ["bash", script, "plan.toml", "job"], cwd=place, env=environment, text=True
        )

    process = job()
    wait_until(place / "job", 100)
    process.send_signal(signal.SIGUSR1)
    if process.wait(600):  # it had not ended
        assert process.returncode == 130
        assert (place / "requeued").read_text().split()[0] == "requeue"
        assert 100 < rows(place / "job") <= CELLS
    assert job().wait(1_200) == 0
    assert (place / "job" / "table.csv").read_bytes() == local
