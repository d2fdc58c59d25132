"""How commands end: interrupts, accidents, streams that are closed or full."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simgap.cli.app.process import INTERRUPTED, STOPPED
from tests.sessions import HANGS, begun, interrupt, wait_until

SIMGAP = [sys.executable, "-m", "simgap.cli.app.main"]
ENDLESS = """
import sys, threading
from simgap._kernels import compile_news
from simgap.cli.app.process import begin_process
from simgap.interrupts import delayed_interrupts
begin_process()
if sys.argv[1] == "compiling":
    compile_news.compiling.add(threading.get_ident())
taken = threading.Lock()
taken.acquire()
with delayed_interrupts():
    print("ready", flush=True)
    while True:
        taken.acquire(timeout=0.05)
"""


def interruptible() -> None:
    """A shell that put us in the background has told its children to ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(("where", "needed"), [("compiling", 1), ("a lock", 2)])
def test_an_interrupt_ends_a_process_that_hangs(where: str, needed: int) -> None:
    """The second one always, the first one where nothing can be raised."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,  # noqa: PLW1509  # no threads here
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for left in reversed(range(needed)):
            interrupt(process.pid)
            if left:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(timeout=0.5)
        assert process.wait(timeout=HANGS) == INTERRUPTED
        assert process.stderr is not None
        assert process.stderr.read() == STOPPED


COLLECTED = """
import gc, os, signal
from simgap.cli.app.process import begin_process
from simgap.interrupts import check_interrupt
begin_process()
def collect(phase, _):
    if phase == "start":
        os.kill(os.getpid(), signal.SIGINT)
gc.callbacks.append(collect)
gc.collect()
gc.callbacks.clear()
try:
    check_interrupt()
except KeyboardInterrupt:
    print("noticed")
"""


def test_an_interrupt_where_nothing_can_be_raised_is_noticed_without_a_word() -> None:
    """Python calls it an ignored exception, with a traceback; JAX has such a place."""
    found = subprocess.run(
        [sys.executable, "-c", COLLECTED],
        capture_output=True,
        text=True,
        preexec_fn=interruptible,
        check=False,
    )
    assert (found.stdout, found.stderr) == ("noticed\n", "")


LIST, WRONG = ("info", "riverswim"), ("nonsense",)


@pytest.mark.parametrize(
    ("words", "streams", "status", "says"),
    [
        (LIST, "2>&-", 0, ""),
        (LIST, "2>/dev/full", 0, ""),
        (WRONG, "2>&-", 2, ""),
        (WRONG, "2>/dev/full", 2, ""),
        (LIST, ">&-", 2, "standard output is closed"),
        (LIST, ">/dev/full", 2, "cannot write to standard output: No space"),
        ((*LIST, "--json"), ">/dev/full", 2, "cannot write to standard output: No"),
        (LIST, ">&- 2>&- <&-", 2, ""),
    ],
)
def test_streams_that_take_nothing(
    words: tuple[str, ...], streams: str, status: int, says: str
) -> None:
    """Messages may be lost, an answer may not; neither is a defect."""
    found = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *SIMGAP, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == status
    assert says in found.stderr
    assert "defect" not in found.stderr and "Traceback" not in found.stderr
    if status == 0:
        assert "river" in found.stdout


def test_no_file_is_taken_for_a_stream_that_is_closed() -> None:
    """The first file that is opened would get its number, and messages in it."""
    code = (
        "import os, sys\n"
        "from simgap.cli.app.process import begin_process\n"
        "begin_process()\n"
        "sys.exit(os.open(os.devnull, os.O_RDONLY))"
    )
    closed = ["sh", "-c", 'exec "$@" 2>&- <&-', "sh", sys.executable, "-c", code]
    assert subprocess.run(closed, check=False).returncode > 2


@pytest.mark.parametrize("where", ["it has begun", "in a kernel"])
def test_control_c_stops_a_long_run(where: str) -> None:
    command = [*SIMGAP, "solve", "riverswim", "-H", "1e9", "--time-limit", "3000"]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,  # noqa: PLW1509  # no threads here
    ) as process:
        wait_until(lambda: begun(process.pid))
        if where == "in a kernel":
            code = Path(f"/proc/{process.pid}/maps")
            wait_until(lambda: "llvmlite" in code.read_text())
        interrupt(process.pid)
        _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert "stopped: interrupted" in err
    assert "Traceback" not in err


def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [*SIMGAP, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=HANGS)
    assert process.returncode == 141
    assert err == b""


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"},
        {"PYTHONIOENCODING": "ascii"},
        {"NO_COLOR": "1", "COLUMNS": "30"},
        {"TERM": "dumb", "COLUMNS": "200"},
    ],
)
def test_no_environment_breaks_the_output(
    environment: dict[str, str], tmp_path: Path
) -> None:
    kernel = np.full((1, 2, 1, 2), 0.5)
    path = tmp_path / "mödel ✓.npz"
    names = np.array(["wörld ✓"])
    np.savez(path, transitions=kernel, rewards=np.zeros((2, 1)), model_names=names)
    for more in ([], ["--json"]):
        done = subprocess.run(
            [*SIMGAP, "info", str(path), *more],
            capture_output=True,
            env=os.environ | environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
        if more:
            assert json.loads(done.stdout.decode("utf-8"))["names"] == ["wörld ✓"]
