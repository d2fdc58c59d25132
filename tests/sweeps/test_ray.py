"""Sweeps on a Ray cluster: who is let in, which files go there, how cells end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile, SimgapError
from simgap.ledger import read_ledger
from simgap.mdp import LatentMDP
from simgap.sweeps import RayEngine, read_plan
from simgap.sweeps.cells import answered
from simgap.sweeps.engines.ray_cluster import cells_at_a_time, too_small
from simgap.sweeps.engines.ray_files import Outbox, Placed, own_folder, placed
from simgap.sweeps.engines.ray_node import check_versions, versions
from simgap.sweeps.kept import PART, read_answer, read_failure
from simgap.sweeps.plan import Limits
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


def node(alive: bool = True, **resources: float) -> dict[str, Any]:
    return {"Alive": alive, "Resources": resources}


@pytest.mark.parametrize(
    ("limits", "cells"),
    [
        (Limits(), 12),
        (Limits(cpus=3.0), 1 + 2),
        (Limits(cpus=0.5), 24),
        (Limits(gpus=1.0), 2),
        (Limits(memory=3.0), 1 + 5),
        (Limits(cpus=9.0), 0),
    ],
)
def test_there_is_room_for_whole_cells_on_each_machine(
    limits: Limits, cells: int
) -> None:
    nodes = [
        node(CPU=4.0, memory=4.0 * 2**30),
        node(CPU=8.0, GPU=2.0, memory=16.0 * 2**30),
        node(alive=False, CPU=64.0, GPU=8.0, memory=1e12),
    ]
    assert cells_at_a_time(nodes, limits) == cells
    assert too_small(nodes, limits).code == "cluster-too-small"


class Store:
    """An object store: what is put is counted, and its number fetches it."""

    def __init__(self) -> None:
        self.put_in: list[bytes] = []
        self.fetched = 0

    def put(self, content: bytes) -> int:
        self.put_in.append(content)
        return len(self.put_in) - 1

    def get(self, number: int) -> bytes:
        self.fetched += 1
        return self.put_in[number]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with its own temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"simgap-{os.getuid()}"


def test_a_file_is_used_where_it_lies_or_copied_once(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "parts").mkdir(parents=True)
    monkeypatch.chdir(home)
    for name in ("model.bin", "parts/wheel.bin", "same.bin"):
        (home / name).write_text("large" if name != "parts/wheel.bin" else "wheel")
    store = Store()
    names = (Path("model.bin"), Path("parts/wheel.bin"), home / "same.bin")
    files = Outbox(store).sent(names)
    assert store.put_in == [b"large", b"wheel"]
    text = f"mujoco:model.bin?task={home}/same.bin"
    there = placed(files, str(home), store.get)
    assert there == Placed("", str(home))
    assert there.text(text, files) == text
    for each in names:
        each.write_text("another content")
    for _ in range(2):
        copied = placed(files, str(home), store.get)
        assert Path(copied.root).is_relative_to(elsewhere)
        assert copied.folder == f"{copied.root}{home}"
        found = [Path(copied.folder) / each for each in ("model.bin", "same.bin")]
        assert [each.read_text() for each in found] == ["large", "large"]
        assert (Path(copied.folder) / "parts" / "wheel.bin").read_text() == "wheel"
        assert copied.text(text, files) == f"mujoco:model.bin?task={found[1]}"
        assert store.fetched == 2


def test_a_folder_of_somebody_else_is_not_used(elsewhere: Path) -> None:
    assert own_folder() == elsewhere
    elsewhere.chmod(0o755)
    with pytest.raises(InvalidFile) as caught:
        own_folder()
    assert caught.value.code == "folder-of-others"


def test_a_machine_with_other_versions_is_refused() -> None:
    check_versions(versions())
    for other in ({"numpy": "1.0"}, {"simgap": "9"}, {"nothing-of-this-name": "1"}):
        with pytest.raises(SimgapError) as caught:
            check_versions({**versions(), **other})
        assert caught.value.code == "node-version"


def test_a_worker_imports_nothing_large() -> None:
    program = "import sys, simgap.sweeps.engines.ray_node; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "numba", "simgap.answers"} & set(told.stdout.split())


POLICIES = """
import os, time
from multiprocessing import parent_process

class Odd(BaseException): ...

def fine(observation, memory): return 0, None

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
model = ["/proc/self/cwd/model.simgap", "model.simgap"]
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
from simgap.errors import SimgapError
from simgap.sweeps import QUESTIONS, RayEngine
from simgap.sweeps.cells import Begin
from simgap.sweeps.plan import Limits

def asked(address, gpus=0.0):
    engine = RayEngine(address)
    try:
        print(engine.workers)
        list(engine.run([], Begin("."), QUESTIONS["gap"], Limits(gpus=gpus)))
    except SimgapError as error:
        print(error.code)
    assert not ray.is_initialized()

here = sys.argv[1]
asked(here)
if "RAY_AUTH_TOKEN" not in os.environ:
    asked(here, gpus=1.0)
    asked("127.0.0.1:1")
    os.environ["RAY_ADDRESS"] = "local"
    asked("auto")
    os.environ["RAY_ADDRESS"] = here
    asked("auto")
    ray.__version__ = "2.0.0"
    asked(here)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(2) as found:
        yield found


def asked(cluster: RayCluster, **more: str) -> list[str]:
    """Return what a program that uses the cluster prints."""
    told = subprocess.run(
        [sys.executable, "-c", ASK, cluster.address],
        env={**cluster.environment, **more},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.split()


def test_who_may_not_come_in_is_told_why(cluster: RayCluster) -> None:
    codes = "2 2 cluster-too-small no-cluster cluster-address 2 cluster-version"
    assert asked(cluster) == codes.split()
    assert asked(cluster, RAY_AUTH_TOKEN="f" * 32) == ["cluster-refused"]


def test_cells_end_there_as_they_end_here(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One name of the model is another file in every process: it has to be copied."""
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
    assert json.loads(done.stdout)["failed"] == 2 * (len(ENDS) - 1)
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
                assert read_answer(row.content) == here.numbers
    there = Path(cluster.environment["TMPDIR"])
    copies = there / f"simgap-{os.getuid()}" / "contents"
    assert len(list(copies.iterdir())) == 2  # the model and the policies
    (compiled,) = there.glob("simgap-compiled-*")  # once for all workers
    assert compiled.read_text() == "compiled\n"
