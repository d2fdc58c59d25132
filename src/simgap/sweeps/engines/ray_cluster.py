"""A Ray cluster that somebody has started: going in, what it has, going out again.

Nothing is started here. Ray is kept quiet: what it prints would stand between the lines
of an answer.
"""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from simgap.errors import InvalidArgument, SimgapError
from simgap.sweeps.plan import Limits
from simgap.text import number, shown

AUTO = "auto"
PLACE = re.compile(r"(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):(?P<port>[0-9]{1,5})")
QUIET = {  # read when Ray is imported
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # no word of machines on standard output
    "RAY_NUM_REDIS_GET_RETRIES": "2",  # half a minute each, where nobody answers
}
PATIENCE = 10.0  # seconds to wait for somebody who listens
GB = 2**30
START = "start one: ray start --head, on every other machine ray start --address ..."


class NoCluster(SimgapError):
    """A Ray cluster that is not there, is of another kind, or lets nobody in."""


def checked_address(address: str) -> str:
    """Return an address that can be one of a cluster which runs already."""
    if address == AUTO or PLACE.fullmatch(address):
        return address
    raise InvalidArgument(
        f"{shown(address)!r} is no address of a Ray cluster",
        hint="it is auto, or HOST:PORT as `ray start --head` has printed it",
        code="cluster-address",
    )


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield the module `ray`, connected to a cluster; one's own connection is kept."""
    ray = _ray()
    if ray.is_initialized():
        _check_same(address, ray.get_runtime_context().gcs_address)
        yield ray
        return
    _connect(ray, _found(address))
    try:
        yield ray
    finally:
        ray.shutdown()


def cells_at_a_time(nodes: Sequence[Mapping[str, Any]], limits: Limits) -> int:
    """Return how many cells all machines together have room for."""
    needs = {"CPU": limits.cpus, "GPU": limits.gpus, "memory": memory_of(limits)}
    needs = {name: need for name, need in needs.items() if need}
    return sum(
        int(min(node["Resources"].get(name, 0) / need for name, need in needs.items()))
        for node in nodes
        if node["Alive"]
    )


def memory_of(limits: Limits) -> int:
    """Return the bytes of memory that a cell is given a place for."""
    return 0 if limits.memory is None else int(limits.memory * GB)


def too_small(nodes: Sequence[Mapping[str, Any]], limits: Limits) -> NoCluster:
    """Return what to raise where no machine has room for a cell."""
    alive = [each["Resources"] for each in nodes if each["Alive"]]
    most = {
        name: max((each.get(name, 0) for each in alive), default=0)
        for name in ("CPU", "GPU", "memory")
    }
    wanted = [f"{number(limits.cpus)} CPUs"]
    wanted += [f"{number(limits.gpus)} GPUs"] if limits.gpus else []
    wanted += [f"{number(limits.memory)} GB"] if limits.memory else []
    return NoCluster(
        f"no machine of the Ray cluster has room for a cell: {', '.join(wanted)}",
        hint=f"the most that one of its {len(alive)} machines has is "
        f"{number(most['CPU'])} CPUs, {number(most['GPU'])} GPUs and "
        f"{number(most['memory'] / GB, 3)} GB: change [limits] in the plan",
        code="cluster-too-small",
    )


def lost_cluster(error: BaseException) -> NoCluster:
    """Return what to raise when the cluster is gone."""
    return NoCluster(
        f"the connection to the Ray cluster is lost: {shown(str(error), 300)}",
        hint="what is finished is kept; when the cluster runs again, the same command "
        "goes on",
        code="cluster-lost",
    )


def _ray() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise NoCluster(
            "Ray is not installed",
            hint="pip install 'simgap[ray]', in the version of the cluster",
            code="no-ray",
        ) from error
    return ray


def _check_same(address: str, current: str) -> None:
    if address not in (AUTO, current):
        raise InvalidArgument(
            f"this process is connected to the Ray cluster at {current} already",
            hint=f"ray.shutdown() before asking for {address}, or name that one",
            code="cluster-address",
        )


def _found(address: str) -> str:
    """Return where to connect; nobody waits for what does not listen."""
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS") or AUTO
        if address == AUTO:
            return AUTO  # Ray looks for one on this machine
        checked_address(address)  # `local` would start one
    place = PLACE.fullmatch(address)
    assert place is not None
    host, port = place["host"].strip("[]"), int(place["port"])
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise NoCluster(
            f"nobody listens at {address}: {error}", hint=START, code="no-cluster"
        ) from error
    return address


def _connect(ray: Any, address: str) -> None:
    from ray import exceptions

    no_token = getattr(exceptions, "AuthenticationError", PermissionError)  # since 2.52
    try:
        ray.init(
            address=address,
            logging_level=logging.CRITICAL,
            log_to_driver=False,
            namespace="simgap",
        )
    except no_token as error:
        raise NoCluster(
            "the Ray cluster asks for a token, and there is none here",
            hint="copy ~/.ray/auth_token of its head to the same place, mode 0600, or "
            "name it in RAY_AUTH_TOKEN_PATH",
            code="cluster-token",
        ) from error
    except RuntimeError as error:
        if "ersion mismatch" not in str(error):
            raise _refused(address, error) from error
        raise NoCluster(
            f"the Ray cluster is another one: {' '.join(str(error).split())}",
            hint="install the same versions of Ray and Python here as there",
            code="cluster-version",
        ) from error
    except ConnectionError as error:
        if address == AUTO:
            raise NoCluster(
                "there is no Ray cluster on this machine", hint=START, code="no-cluster"
            ) from error
        raise _refused(address, error) from error
    except Exception as error:  # Ray raises its own kinds, and others
        raise _refused(address, error) from error


def _refused(address: str, error: Exception) -> NoCluster:
    return NoCluster(
        f"no way into the Ray cluster at {address}: {shown(str(error), 300)}",
        hint="is it a Ray cluster, is this one of its machines, and is the token in "
        "~/.ray/auth_token that of the cluster?",
        code="cluster-refused",
    )
