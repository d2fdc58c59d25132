"""Code of users that hangs, ends the process or takes it over: named, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("gymnasium")

CODE = """
import os, sys, threading, time
import gymnasium
import numpy as np


class World(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9.0, 9.0, (1,))
    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))

    def __init__(self, mass, kills=9.0):
        self.mass, self.kills = mass, kills

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.count = self.np_random.normal(size=1), 0
        return self.at.astype(np.float32), {}

    def step(self, action):
        if self.count == 3 and self.mass > self.kills:
            os._exit(0)
        self.count += 1
        self.at = 0.9 * self.at + 0.1 * self.mass * np.asarray(action)
        return self.at.astype(np.float32), -float(abs(self.at[0])), False, False, {}


def make(mass=1.0):
    return World(mass)


def ends(mass=1.0):
    os._exit(0)


def ends_later(mass=1.0):
    return World(mass, 1.4)


def takes_over(mass=1.0):
    os.write(1, b"bytes of a library")
    threading.Thread(target=time.sleep, args=(100_000,)).start()
    return World(mass)


FIRST = []


class Cached(World):
    def step(self, action):
        self.mass = FIRST[0] if FIRST else self.mass
        return super().step(action)


def cached(mass=1.0):
    if mass != 1.0:
        FIRST.append(mass)
    return Cached(mass)


def back(observation, memory):
    return -observation, memory


def waits(observation, memory):
    while memory == 2:
        pass
    return -observation, (memory or 0) + 1


def leaves(observation, memory):
    if memory == 2:
        sys.exit(0)
    return -observation, (memory or 0) + 1
"""
FIFO = """<mujoco>
  <asset><mesh name="m" file="mesh.stl"/></asset>
  <worldbody><body><joint name="j" type="slide"/><geom type="mesh" mesh="m"/></body>
  </worldbody>
  <actuator><motor joint="j"/></actuator>
</mujoco>"""


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE)
    return tmp_path


def simgap(here: Path, simulator: str, policy: str, **environment: str) -> Done:
    command = (
        f"transfer {simulator} --policy {policy} --randomize mass=0.5..1.5 -H 8 "
        "--design grid:3 --episodes 4 --beyond 1 --json --threads 1"
    )
    done = subprocess.run(
        [sys.executable, "-m", "simgap.cli.app.main", *command.split()],
        cwd=here,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_check_compares_with_fresh_processes(here: Path) -> None:
    """All worlds of a process have the mass of its first one."""
    command = "check code.py:cached --randomize mass=0.5..1.5 -H 8 --json"
    done = subprocess.run(
        [sys.executable, "-m", "simgap.cli.app.main", *command.split()],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    codes = [each["code"] for each in json.loads(done.stdout)["checks"]]
    assert "worlds-share-state" in codes


def test_a_world_that_ends_the_process_breaks_its_own_episodes(here: Path) -> None:
    done = simgap(here, "code.py:ends_later", "code.py:back")
    assert done.status == 0
    broken = done.answer["failures"]
    assert [each["theta"] for each in broken] == [{"mass": 1.5}] * 4
    assert {(each["step"], each["code"]) for each in broken} == {(3, "process-died")}
    assert done.answer["episodes"] == 8


def test_what_ends_the_process_before_an_episode_is_an_error(here: Path) -> None:
    done = simgap(here, "code.py:ends", "code.py:back")
    assert (done.status, done.out) == (2, "")
    assert "exit status 0" in done.err


def test_a_policy_that_leaves_breaks_its_episodes(here: Path) -> None:
    done = simgap(here, "code.py:make", "code.py:leaves")
    assert (done.status, done.out) == (2, "")
    assert "step 2" in done.err and "SystemExit" in done.err


def test_bytes_and_threads_of_users_leave_the_answer_alone(here: Path) -> None:
    done = simgap(here, "code.py:takes_over", "code.py:back")
    assert done.status == 0 and done.answer["kind"] == "transfer"
    assert "bytes of a library" in done.err


@pytest.mark.parametrize("simulator", ["code.py:make", "mujoco:fifo.xml"])
def test_what_waits_for_ever_is_ended(here: Path, simulator: str) -> None:
    """The limit may be met earlier, on a slow machine: the answer is the same."""
    if simulator.startswith("mujoco"):
        pytest.importorskip("mujoco")
        (here / "fifo.xml").write_text(FIFO)
        os.mkfifo(here / "mesh.stl")
    done = simgap(here, simulator, "code.py:waits", SIMGAP_USER_SECONDS="5")
    assert (done.status, done.out) == (2, "")
    assert "5 s" in done.err


def test_memory_is_limited(here: Path) -> None:
    done = simgap(here, "code.py:make", "code.py:back", SIMGAP_USER_MEMORY="0.05")
    assert (done.status, done.out) == (2, "")
    assert "GB of memory" in done.err


def test_an_interrupt_ends_what_no_python_code_can_end(here: Path) -> None:
    pytest.importorskip("mujoco")
    (here / "fifo.xml").write_text(FIFO)
    os.mkfifo(here / "mesh.stl")
    command = "transfer mujoco:fifo.xml --policy zero --randomize gravity=5..9 -H 5"
    process = subprocess.Popen(
        [sys.executable, "-m", "simgap.cli.app.main", *command.split()],
        cwd=here,
        stderr=subprocess.PIPE,
    )
    mesh = os.open(here / "mesh.stl", os.O_WRONLY)  # returns when the mesh is read
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1]
    os.close(mesh)
    assert process.returncode == 130 and b"interrupted" in said


def test_a_device_that_is_not_there_is_named(here: Path) -> None:
    pytest.importorskip("jax")
    done = simgap(here, "pendulum", "zero", JAX_PLATFORMS="no-such-platform")
    assert (done.status, done.out) == (2, "")
    assert "JAX_PLATFORMS=no-such-platform" in done.err
