"""A Ray cluster of several nodes on this machine, for tests.

It runs in processes of its own, on the loopback device only, with a private home and
private temporary folders, and asks for a token. `python -m tests.sweeps.ray_cluster`
starts one and takes words from standard input: `add`, `remove` (a node, ungracefully).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

STORE = 80 * 2**20  # bytes of the object store of a node: the least is 75 MB
TOKEN = "0123456789abcdef" * 2


class RayCluster:
    """A cluster, and who belongs to it."""

    def __init__(self, process: subprocess.Popen[str], place: Path) -> None:
        self._process, self._place = process, place
        self.environment = environment(place)
        self.address = self._heard()

    def tell(self, word: str) -> None:
        """Add or remove a node, and wait until that is done."""
        self._stdin.write(f"{word}\n")
        self._stdin.flush()
        assert self._heard() == word

    def workers(self) -> list[int]:
        """Return the workers of Ray, and the processes that answer their cells."""
        return [*self._processes("ray::"), *self._processes("spawn_main")]

    def kill(self, process: int) -> bool:
        """Kill one of its processes; return whether it was there."""
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def close(self) -> None:
        """End everything that belongs to it."""
        with suppress(OSError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=60)
        for each in self._processes(""):
            self.kill(each)
        self._process.wait()

    def _processes(self, word: str) -> list[int]:
        """Return processes with this private home, and this word in their command."""
        mark, found = f"HOME={self._place}\0".encode(), []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                ours = mark in (path / "environ").read_bytes()
                if ours and word.encode() in (path / "cmdline").read_bytes():
                    found.append(int(path.name))
        return found

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _heard(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def ray_cluster(*cpus: int) -> Iterator[RayCluster]:
    """Yield a cluster with a node for every number; skip the test without Ray."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'simgap[ray]'")
    place = Path(tempfile.mkdtemp(prefix="sgray"))  # short: Ray has sockets in it
    (place / ".ray").mkdir()
    (place / ".ray" / "auth_token").write_text(TOKEN)
    (place / ".ray" / "auth_token").chmod(0o600)
    with (place / "cluster.err").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sweeps.ray_cluster", *map(str, cpus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=environment(place),
            text=True,
            start_new_session=True,
        )
    cluster = RayCluster(process, place)
    try:
        assert cluster.address, (place / "cluster.err").read_text()
        yield cluster
    finally:
        cluster.close()
        shutil.rmtree(place, ignore_errors=True)


def _patiently(start: Callable[[], Any]) -> Any:
    """Return what starts; Ray gives a node 30 s, which a busy machine may not have."""
    for _ in range(9):
        with suppress(Exception):
            return start()
    return start()


def environment(place: Path) -> dict[str, str]:
    """Return the environment of the cluster and of those who use it."""
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("RAY_")},
        "HOME": str(place),
        "TMPDIR": str(place),
        "RAY_TMPDIR": str(place),
        "RAY_AUTH_MODE": "token",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # 127.0.0.1 stays what it is
        "RAY_USAGE_STATS_ENABLED": "0",
    }


def main(cpus: list[int]) -> None:
    """Start a cluster, do what is told, end it."""
    from ray.cluster_utils import Cluster

    usual: dict[str, Any] = {"object_store_memory": STORE}
    head = {**usual, "num_cpus": cpus[0], "include_dashboard": False}
    head["node_ip_address"] = "127.0.0.1"  # where drivers go: it is never removed
    cluster = _patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    usual["node_ip_address"] = "127.0.0.2"  # loopback, too
    for each in cpus[1:]:
        _patiently(partial(cluster.add_node, num_cpus=each, **usual))
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line == "add\n":
            _patiently(partial(cluster.add_node, num_cpus=cpus[-1], **usual))
        else:
            assert line == "remove\n"
            node = next(iter(cluster.worker_nodes))
            cluster.remove_node(node, allow_graceful=False)
        print(line, end="", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]])
