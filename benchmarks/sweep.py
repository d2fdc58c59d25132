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

    def run(
        self, cells: Iterable[Any], begin: Any, question: Any, limits: Any
    ) -> Iterator[Any]:
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
                runs += _step("`simgap sweep`", "sweep", folder, cells, workers, 0)
                runs += _step("bare `ProcessPoolExecutor`", "pool", cells, workers)
            if options.ray is not None:
                runs += _step("", "ray", f"{place}/ray", cells, python=options.ray)
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
                (told,) = _step("", "sweep", f"{place}/{many}", cells, many, rounds)
                found.append(told["steady"])
    times = ratio(*taken.values())
    one, two = (scaled(each, 1e3) for each in taken.values())
    yield f"{CELL_MS:g} ms", one, two, times, GOAL, times.median >= GOAL


def ledger(options: Namespace) -> Iterator[Row]:
    """Return what a ledger with very many rows costs, step by step."""
    with tempfile.TemporaryDirectory() as place:
        folder, cells = f"{place}/many", 2000 if options.quick else 10**6
        (fill,) = _step("", "fill", folder, cells)
        size = f"{fill['bytes'] / 1e6:.0f} MB, {fill['bytes'] / cells:.0f} a cell"
        fast = f"{fill['rate']:.0f} cells a second"
        what = (
            f"run {cells} cells by the driver alone ({fast}), write a ledger ({size})"
        )
        yield what, fill["seconds"], fill["cpu"], round(fill["peak_mb"])
        for what, step in {
            "resume when nothing is missing, write the table": "scan",
            "`simgap status`": "status",
            "open after the driver was killed: every row is read": "killed",
            "export the table": "export",
        }.items():
            runs = [told for _ in range(REPEATS) for told in _step("", step, folder)]
            clock, cpu = (spread([r[key] for r in runs]) for key in ("seconds", "cpu"))
            yield what, clock, cpu, round(max(r["peak_mb"] for r in runs))


def _step(
    by: str, name: str, *arguments: Any, python: str = sys.executable
) -> Iterator[Asked]:
    """Run a step in a process of its own; return what it tells, and its memory."""
    asked = {"step": name, "arguments": list(map(str, arguments))}
    workers = {"sweep": arguments[2:3], "pool": arguments[1:]}.get(name, ())
    for told in started(python, "benchmarks.sweep", asked):
        yield {"by": by, "workers": next(iter(workers), None), **told}


def stepped(asked: Asked) -> Iterable[Asked]:
    """Return what a step tells."""
    told = STEPS[asked["step"]](*asked["arguments"])
    return told if isinstance(told, list) else [told]


def _told(begin: float, cpu: float, **more: Any) -> Asked:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak_mb": used / 1024,
        **more,
    }


def _sweep(folder: str, cells: str, workers: str, rounds: str) -> Asked:
    """Run a sweep of cells that only turn."""
    from simgap.sweeps import LocalEngine

    return _swept(folder, cells, rounds, LocalEngine(int(workers)))


def _swept(folder: str, cells: str, rounds: str, engine: Any) -> Asked:
    from simgap.sweeps import sweep

    plan, place = _planned(Path(folder), int(cells))
    os.environ["ROUNDS"] = rounds
    here = import_module("benchmarks.sweep")  # as other processes know it
    import_module("simgap.sweeps.sweep").Begin = here.Rounds  # type: ignore[attr-defined]
    ends: list[tuple[float, float]] = []

    def note(word: str) -> None:
        ends.append((time.perf_counter(), time.process_time()))

    begin, cpu = time.perf_counter(), time.process_time()
    done = sweep(plan, out=place, engine=engine, progress=note)
    assert done.done == int(cells)
    return _told(begin, cpu, **_second_half(ends))


def _second_half(ends: list[tuple[float, float]]) -> dict[str, float]:
    """Return seconds and the driver's own for a cell, when workers have started."""
    half = len(ends) // 2
    many = len(ends) - 1 - half
    clock, cpu = ((b - a) / many for a, b in zip(ends[half], ends[-1], strict=True))
    return {"steady": clock, "steady_cpu": cpu}


def _pool(cells: str, workers: str) -> Asked:
    """Run tasks that do nothing in a bare pool, one at a time as cells are."""
    begin, cpu = time.perf_counter(), time.process_time()
    with ProcessPoolExecutor(int(workers), get_context("spawn")) as pool:
        ends = [
            (time.perf_counter(), time.process_time())
            for _ in pool.map(turned, [0] * int(cells))
        ]
    return _told(begin, cpu, **_second_half(ends))


def _ray(folder: str, cells: str) -> list[Asked]:
    """Run tasks that do nothing on Ray, bare and by a sweep; then let many wait."""
    with tempfile.TemporaryDirectory(prefix="sgray") as home:
        os.environ |= {"HOME": home, "RAY_TMPDIR": home, "RAY_AUTH_MODE": "token"}
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        from simgap.sweeps import RayEngine

        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
        task = ray.remote(lambda rounds: rounds)
        ray.get([task.remote(0) for _ in range(20)])
        refs = [task.remote(0) for _ in range(int(cells))]
        ends = []
        for each in refs:
            ray.get(each)
            ends.append((time.perf_counter(), time.process_time()))
        rows = [{"by": "bare Ray tasks", "workers": 2, **_second_half(ends)}]
        swept = _swept(folder, cells, "0", RayEngine())
        rows.append({"by": "`simgap sweep --engine ray`", "workers": 2, **swept})
        sleeping = ray.remote(lambda: time.sleep(600.0))
        refs = [sleeping.remote() for _ in range(UNDER_WAY)]
        ends = []
        for _ in range(20):
            ray.wait(refs, num_returns=len(refs), timeout=0)
            ends.append((time.perf_counter(), time.process_time()))
        wait = f"one `ray.wait` for {UNDER_WAY} tasks under way"
        rows.append({"by": wait, "workers": 2, **_second_half(ends)})
        ray.shutdown()
    return rows


def _fill(folder: str, cells: str) -> Asked:
    """Run very many cells by the driver alone."""
    from simgap.sweeps import sweep

    plan, place = _planned(Path(folder), int(cells))
    import_module("simgap.sweeps.sweep").Begin = Rounds  # type: ignore[attr-defined]
    ends: list[float] = []
    begin, cpu = time.perf_counter(), time.process_time()
    done = sweep(
        plan,
        out=place,
        engine=Instantly(),
        progress=lambda _: ends.append(time.perf_counter()),
    )
    assert done.done == int(cells)
    size = (place / "ledger.sqlite").stat().st_size
    rate = len(ends) / (ends[-1] - ends[0])
    return _told(begin, cpu, bytes=size, rate=rate)


def _scan(folder: str) -> Asked:
    from simgap.sweeps import resume

    begin, cpu = time.perf_counter(), time.process_time()
    resume(folder, engine=Instantly())
    return _told(begin, cpu)


def _status(folder: str) -> Asked:
    from simgap.sweeps import status

    begin, cpu = time.perf_counter(), time.process_time()
    status(folder)
    return _told(begin, cpu)


def _killed(folder: str) -> Asked:
    """Open the ledger of a driver that was killed: its seal is open."""
    from simgap.ledger import opened_ledger
    from simgap.ledger.seal import read_seal, write_seal

    seal = read_seal(Path(folder))
    assert seal is not None
    write_seal(Path(folder), type(seal)(seal.rows, seal.digests))
    begin, cpu = time.perf_counter(), time.process_time()
    with opened_ledger(Path(folder), "sweep") as rows:
        rows.statuses()
    return _told(begin, cpu)


def _export(folder: str) -> Asked:
    from simgap.sweeps import export_table

    begin, cpu = time.perf_counter(), time.process_time()
    export_table(folder, Path(folder) / "copy.csv")
    return _told(begin, cpu)


def _planned(folder: Path, cells: int) -> tuple[Path, Path]:
    """Return the plan of so many cells, and the folder of its sweep."""
    folder.parent.mkdir(exist_ok=True)
    plan = folder.with_suffix(".toml")
    seeds = 100 if cells >= 1000 else 10
    horizons = list(range(1, cells // seeds // 2 + 1))
    plan.write_text(
        f"""question = "gap"
seeds = {seeds}
[axes]
model = "riverswim?states=3&success=0.3,0.6"
horizon = {horizons}
policy = ["random", "zero"]
"""
    )
    return plan, folder


STEPS: dict[str, Callable[..., Asked | list[Asked]]] = {
    "sweep": _sweep,
    "pool": _pool,
    "ray": _ray,
    "fill": _fill,
    "scan": _scan,
    "status": _status,
    "killed": _killed,
    "export": _export,
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
