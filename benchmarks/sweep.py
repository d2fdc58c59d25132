"""What a sweep costs beside its cells: overhead, two workers, a million cells.

    python -m benchmarks.sweep [--ray PYTHON] [--quick]

Every measurement is a process of its own. Cells of these sweeps do no work, or so many
rounds of a loop as take 50 ms here; all else is as in `simgap sweep`: plan, keys,
worker processes, ledger, table. Beside it the same tasks by a bare
`ProcessPoolExecutor`, and by bare Ray tasks and the same sweep on Ray in the
interpreter that `--ray` names (without it: not measured). Times are those of the clock,
and the driver's own processor time: other work on the machine changes that little.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, final

from benchmarks.results import Asked, Row, Table, ratio, run, scaled, spread, started
from simgap.sweeps.engine import LocalEngine
from simgap.sweeps.ray_engine import RayEngine
from simgap.sweeps.state import export_table, status
from simgap.sweeps.sweep import resume, sweep

CELL_MS = 50.0
GOAL = 1.8  # times one worker, with two, for cells of 50 ms
ANSWER = (
    b'{"numbers":{"average":{"lower":0.10000000000000001,"upper":0.20000000000000001},'
    b'"worst":{"lower":0.3,"upper":0.40000000000000002}},"notes":[],"certified":'
    b'"certified","files":{}}'
)
REPEATS = 3
UNDER_WAY = 2000  # tasks of Ray, as 1000 workers have


@final
@dataclass(frozen=True)
class Rounds:
    """What a worker does with a cell: so many rounds of a loop, and a fixed answer."""

    folder: str
    examples: tuple[Any, ...] = ()

    def __call__(self, tell: Callable[[Any], None]) -> Callable[[Any], Any]:
        return self.answered

    def answered(self, cell: Any) -> Any:
        """Return the answer of a cell."""
        from simgap.sweeps.cells import Answered

        turned(int(os.environ.get("ROUNDS", "0")))
        return Answered(ANSWER, {}, 0.001)


@final
class Instantly:
    """An engine without processes: what is left is the driver and its ledger."""

    workers = 1

    def run(self, cells: Iterable[Any], begin: Any, plan: Any) -> Iterator[Any]:
        """Return all cells, each with the same answer."""
        from simgap.processes import Ended

        answer = begin.answered(None)
        for cell in cells:
            yield Ended(cell, answer)


def turned(rounds: int) -> int:
    """Return something that takes time."""
    found = 0
    for each in range(rounds):
        found ^= each
    return found


def overhead(options: Namespace) -> Iterator[Row]:
    """Return what a cell that does nothing costs, by each program."""
    cells = 200 if options.quick else 5000
    runs: list[Asked] = []
    for _ in range(1 if options.quick else REPEATS):
        with tempfile.TemporaryDirectory() as place:
            for workers in (1, 2):
                folder = f"{place}/none-{workers}"
                runs += _step("sweep", folder, cells, workers, 0)
                runs += _step("pool", cells, workers)
            if options.ray is not None:
                runs += _step("ray", f"{place}/ray", cells, python=options.ray)
    for by, workers in dict.fromkeys((each["by"], each["workers"]) for each in runs):
        same = [r for r in runs if (r["by"], r["workers"]) == (by, workers)]
        clock, cpu = ([r[key] for r in same] for key in ("steady", "steady_cpu"))
        yield by, workers, scaled(clock, 1e3), scaled(cpu, 1e3)


def two_workers(options: Namespace) -> Iterator[Row]:
    """Return how much faster two workers are than one."""
    begin, rounds = time.process_time(), 10**6
    turned(rounds)
    rounds = round(rounds * CELL_MS / 1000.0 / (time.process_time() - begin))
    taken: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(1 if options.quick else REPEATS):
        with tempfile.TemporaryDirectory() as place:
            for many, found in taken.items():
                cells = 40 if options.quick else 400
                (told,) = _step("sweep", f"{place}/{many}", cells, many, rounds)
                found.append(told["steady"])
    times = ratio(*taken.values())
    one, two = (scaled(each, 1e3) for each in taken.values())
    yield f"{CELL_MS:g} ms", one, two, times, GOAL, times.median >= GOAL


def ledger(options: Namespace) -> Iterator[Row]:
    """Return what a ledger with very many rows costs, step by step."""
    with tempfile.TemporaryDirectory() as place:
        folder, cells = f"{place}/many", 2000 if options.quick else 10**6
        (fill,) = _step("fill", folder, cells)
        size = f"{fill['bytes'] / 1e6:.0f} MB, {fill['bytes'] / cells:.0f} a cell"
        fast = f"{fill['rate']:.0f} cells a second"
        what = (
            f"run {cells} cells by the driver alone ({fast}), write a ledger ({size})"
        )
        yield what, fill["seconds"], fill["cpu"], round(fill["peak_mb"])
        for what, step in {
            "resume when nothing is missing, write the table": "resume",
            "`simgap status`": "status",
            "export the table": "export",
        }.items():
            runs = [told for _ in range(REPEATS) for told in _step(step, folder)]
            clock, cpu = (spread([r[key] for r in runs]) for key in ("seconds", "cpu"))
            yield what, clock, cpu, round(max(r["peak_mb"] for r in runs))


def _step(name: str, *arguments: Any, python: str = sys.executable) -> Iterator[Asked]:
    """Run a step in a process of its own; return what it tells."""
    asked = {"step": name, "arguments": arguments}
    return started(python, "benchmarks.sweep", asked)


def stepped(asked: Asked) -> Iterator[Asked]:
    """Return what a step tells, what it took, and its memory."""
    begin = _now()
    found = STEPS[asked["step"]](*asked["arguments"])
    lines = list(found) if isinstance(found, Iterator) else [{}]
    clock, cpu = (b - a for a, b in zip(begin, _now(), strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for told in lines:
        yield {"seconds": clock, "cpu": cpu, "peak_mb": peak, **told}


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _local(folder: str, cells: int, workers: int, rounds: int) -> Iterator[Asked]:
    """Run a sweep of cells that only turn."""
    ends = _swept(folder, cells, rounds, LocalEngine(workers))
    yield _steady("`simgap sweep`", workers, ends)


def _swept(folder: str, cells: int, rounds: int, engine: Any) -> list[Any]:
    """Return when each cell ended, by the clock and by the driver's own time."""
    seeds = 100 if cells >= 1000 else 10
    horizons = list(range(1, cells // seeds // 2 + 1))
    plan = Path(folder).with_suffix(".toml")
    plan.write_text(
        f"""question = "gap"
seeds = {seeds}
[axes]
model = "riverswim?states=3&success=0.3,0.6"
horizon = {horizons}
policy = ["random", "zero"]
"""
    )
    os.environ["ROUNDS"] = str(rounds)
    here = import_module("benchmarks.sweep")  # as other processes know it
    import_module("simgap.sweeps.sweep").Begin = here.Rounds  # type: ignore[attr-defined]
    ends: list[Any] = []
    done = sweep(
        plan, out=Path(folder), engine=engine, progress=lambda _: ends.append(_now())
    )
    assert done.done == cells
    return ends


def _steady(by: str, workers: int, ends: list[Any]) -> Asked:
    """Return seconds and the driver's own for a cell, when workers have started."""
    half = len(ends) // 2
    many = len(ends) - 1 - half
    clock, cpu = ((b - a) / many for a, b in zip(ends[half], ends[-1], strict=True))
    return {"by": by, "workers": workers, "steady": clock, "steady_cpu": cpu}


def _pool(cells: int, workers: int) -> Iterator[Asked]:
    """Run tasks that do nothing in a bare pool, one at a time as cells are."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        ends = [_now() for _ in pool.map(turned, [0] * cells)]
    yield _steady("bare `ProcessPoolExecutor`", workers, ends)


def _ray(folder: str, cells: int) -> Iterator[Asked]:
    """Run tasks that do nothing on Ray, bare and by a sweep; then let many wait."""
    with tempfile.TemporaryDirectory(prefix="sgray") as home:
        os.environ |= {"HOME": home, "RAY_TMPDIR": home, "RAY_AUTH_MODE": "token"}
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
        task = ray.remote(lambda rounds: rounds)
        ray.get([task.remote(0) for _ in range(20)])
        refs = [task.remote(0) for _ in range(cells)]
        ends = [(ray.get(each), _now())[1] for each in refs]
        yield _steady("bare Ray tasks", 2, ends)
        ends = _swept(folder, cells, 0, RayEngine())
        yield _steady("`simgap sweep --engine ray`", 2, ends)
        sleeping = ray.remote(lambda: time.sleep(600.0))
        refs = [sleeping.remote() for _ in range(UNDER_WAY)]
        ends = [
            (ray.wait(refs, num_returns=len(refs), timeout=0), _now())[1]
            for _ in range(20)
        ]
        yield _steady(f"one `ray.wait` for {UNDER_WAY} tasks under way", 2, ends)
        ray.shutdown()


def _fill(folder: str, cells: int) -> Iterator[Asked]:
    """Run very many cells by the driver alone."""
    ends = _swept(folder, cells, 0, Instantly())
    size = (Path(folder) / "ledger.sqlite").stat().st_size
    yield {"bytes": size, "rate": len(ends) / (ends[-1][0] - ends[0][0])}


STEPS: dict[str, Callable[..., object]] = {
    "sweep": _local,
    "pool": _pool,
    "ray": _ray,
    "fill": _fill,
    "resume": lambda folder: resume(folder, engine=Instantly()),
    "status": status,
    "export": lambda folder: export_table(folder, f"{folder}/copy.csv"),
}
TABLES = (
    Table(
        "sweep",
        "cells that do nothing, by | workers | ms a cell | driver's CPU ms a cell",
        overhead,
    ),
    Table(
        "sweep_two",
        "cells of | one worker, ms | two workers, ms | times as fast | goal | met",
        two_workers,
    ),
    Table("sweep_ledger", "what | seconds | CPU s | peak memory, MB", ledger),
)
RAY = {"--ray": "an interpreter that has Ray"}

if __name__ == "__main__":
    sys.exit(run("benchmarks.sweep", str(__doc__), TABLES, options=RAY, child=stepped))
