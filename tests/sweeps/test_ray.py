"""Sweeps on a Ray cluster: who is let in, which files go there, how cells end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simgap.errors import SimgapError
from simgap.ledger import read_ledger
from simgap.mdp import LatentMDP
from simgap.sweeps.cells import answered
from simgap.sweeps.ray_engine import RayEngine
from simgap.sweeps.reading import read_plan
from simgap.sweeps.rows import PART, read_done, read_failure
from tests.sweeps.ray_cluster import RayCluster, ray_cluster


@pytest.mark.parametrize(
    "address", ["local", "ray://head:10001", "", "head", "http://head:8265", "head:x"]
)
def test_only_a_cluster_that_runs_has_an_address(address: str) -> None:
    with pytest.raises(SimgapError) as caught:
        RayEngine(address)
    assert caught.value.code == "cluster-address"


def test_without_ray_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SimgapError) as caught:
        RayEngine().workers  # noqa: B018
    assert caught.value.code == "no-ray"


POLICIES = """
import os, time
from multiprocessing import parent_process
from pathlib import Path

class Odd(BaseException): ...

def fine(observation, memory):
    here = Path(__file__).with_name("plan.toml").exists()
    assert here == (parent_process() is None)  # workers have a copy, without the plan
    return 0, None

def end(observation, memory, how):
    if parent_process() is not None:  # a worker; a driver only tries it
        how()
    return 0, None

def wrong(observation, memory): return end(observation, memory, lambda: 1 // 0)

def odd(observation, memory): return end(observation, memory, raise_odd)

def dies(observation, memory): return end(observation, memory, lambda: os._exit(3))

def slow(observation, memory): return end(observation, memory, wait)

def fat(observation, memory): return end(observation, memory, hold)

def raise_odd(): raise Odd

def wait(): time.sleep(600)

def hold():
    held = bytearray(1 << 29)
    wait()
"""
ENDS = {
    "fine": "",
    "wrong": "policy-failed",
    "odd": "task-failed",
    "dies": "process-died",
    "slow": "time-limit",
    "fat": "memory-limit",
}
PLAN = f"""question = "gap"
[axes]
model = "model.simgap"
horizon = 2
policy = {[f"ends.py:{each}" for each in ENDS]}
[settings]
runs = 4
[limits]
seconds = 20
memory = 0.6
"""
ASK = """
import os, ray, sys
from pathlib import Path
from simgap.errors import SimgapError
from simgap.sweeps import RayEngine, sweep

def asked(address, more=""):
    plan = "question='gap'\\naxes={model='riverswim', horizon=2, policy='zero'}\\n"
    Path("asked.toml").write_text(plan + more)
    try:
        print(sweep("asked.toml", out="asked", engine=RayEngine(address)).done)
    except SimgapError as error:
        print(error.code)
    assert not ray.is_initialized()

here = sys.argv[1]
if "RAY_AUTH_TOKEN" not in os.environ:
    asked(here, "[limits]\\ngpus = 1.0\\n")
    asked("127.0.0.1:1")
    os.environ["RAY_ADDRESS"] = "local"
    asked("auto")
    os.environ["RAY_ADDRESS"] = here
    asked("auto")
    Path("asked", "ledger.sqlite").unlink()
    ray.__version__ = "2.0.0"
asked(here)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2) as found:
        yield found


def asked(cluster: RayCluster, place: Path, **more: str) -> list[str]:
    """Return what a program that uses the cluster prints."""
    told = subprocess.run(
        [sys.executable, "-c", ASK, cluster.address],
        cwd=place,
        env={**cluster.environment, **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.split()


def test_who_may_not_come_in_is_told_why(cluster: RayCluster, tmp_path: Path) -> None:
    codes = "cluster-too-small no-cluster cluster-address 1"
    assert asked(cluster, tmp_path) == [*codes.split(), "cluster-version"]
    (tmp_path / "asked" / "ledger.sqlite").unlink()
    refused = asked(cluster, tmp_path, RAY_AUTH_TOKEN="f" * 32)
    assert refused == ["cluster-refused"]


def test_cells_end_there_as_they_end_here(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that cells name are copied."""
    from simgap.instances import build_instance
    from simgap.interop import save_model

    monkeypatch.chdir(tmp_path)
    worlds = build_instance("riverswim?states=3&success=0.3,0.6")
    save_model(LatentMDP.uniform(worlds), "model.simgap")
    Path("ends.py").write_text(POLICIES)
    Path("plan.toml").write_text(PLAN)
    words = ("--engine", "ray", "--address", cluster.address, "--json")
    done = subprocess.run(
        [sys.executable, "-m", "simgap.cli.app.main", "sweep", "plan.toml", *words],
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "raylet" not in done.stderr
    assert json.loads(done.stdout)["failed"] == len(ENDS) - 1
    with read_ledger(Path("simgap-sweep"), PART) as ledger:
        for cell in read_plan("plan.toml").cells():
            end = ENDS[cell.axes["policy"].partition(":")[2]]
            row = ledger.find(cell.key)
            assert row is not None
            if end:
                failure = read_failure(row.content)
                assert failure.code == end, failure
                assert failure.tries == (2 if end == "process-died" else 1)
            else:
                here = answered(cell, tmp_path / "unused")
                assert read_done(row.content)[0] == json.loads(here.numbers)
