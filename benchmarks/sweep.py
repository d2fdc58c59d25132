"""What a sweep costs beside its cells: overhead, two workers, a million cells.

    python -m benchmarks.sweep [--quick] [--part P] [--ray PYTHON] [--json FILE]

Every measurement is a process of its own. Cells of these sweeps do no work, or so many
rounds of a loop as take 50 ms here; all else is as in `simgap sweep`: plan, keys,
worker processes, ledger, table. Beside it the same tasks by a bare
`ProcessPoolExecutor`, and by bare Ray tasks and the same sweep on Ray in the
interpreter that `--ray` names (without it: not measured). Times are those of the clock;
the driver's own processor time is told too: other work on the machine changes it
little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, final

CELL_MS = 50.0
GOAL = 1.8  # times one worker, with two, for cells of 50 ms
ANSWER = (
    b'{"numbers":{"average":{"lower":0.10000000000000001,"upper":0.20000000000000001},'
    b'"worst":{"lower":0.3,"upper":0.40000000000000002}},"notes":[],"certified":'
    b'"certified","files":{}}'
)
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


def main() -> int:
    """Measure everything and print it."""
    options = _options()
    if options.step:
        print(json.dumps(STEPS[options.step](*options.arguments)))
        return 0
    quick = options.quick
    found: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "quick": quick}
    with tempfile.TemporaryDirectory() as place:
        parts: dict[str, Callable[[Path], Any]] = {
            "overhead": lambda at: _overhead(at, 200 if quick else 5000, options.ray),
            "two": lambda at: _two_workers(at, 50 if quick else 400),
            "ledger": lambda at: _ledger(at, 2000 if quick else 10**6),
        }
        for name in [options.part] if options.part else parts:
            found[name] = parts[name](Path(place))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1))
    for name, show in PRINTED.items():
        if name in found:
            show(found[name])
    return 0 if quick or found.get("two", {"ratio": GOAL})["ratio"] >= GOAL else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a few cells of each")
    parser.add_argument("--part", choices=("overhead", "two", "ledger"))
    parser.add_argument("--ray", metavar="PYTHON", help="an interpreter that has Ray")
    parser.add_argument("--json", metavar="FILE", help="keep the numbers")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


def _overhead(place: Path, cells: int, ray: str | None) -> list[dict[str, Any]]:
    """Return what a cell that does nothing costs, by each program."""
    rows = []
    for workers in (1, 2):
        many = str(cells), str(workers)
        rows.append({"by": "simgap sweep", "workers": workers})
        rows[-1] |= _step("sweep", str(place / f"none-{workers}"), *many, "0")
        rows.append({"by": "ProcessPoolExecutor", "workers": workers})
        rows[-1] |= _step("pool", *many)
    if ray is not None:
        rows += _step("ray", str(place / "ray"), str(cells), python=ray)["rows"]
    return rows


def _two_workers(place: Path, cells: int) -> dict[str, Any]:
    """Return how much faster two workers are than one."""
    begin, rounds = time.process_time(), 10**6
    turned(rounds)
    rounds = round(rounds * CELL_MS / 1000.0 / (time.process_time() - begin))
    one, two = (
        _step("sweep", str(place / f"busy-{workers}"), str(cells), workers, str(rounds))
        for workers in ("1", "2")
    )
    ratio = one["steady"] / two["steady"]
    return {"rounds": rounds, "one": one, "two": two, "ratio": ratio}


def _ledger(place: Path, cells: int) -> list[dict[str, Any]]:
    """Return what a ledger with very many rows costs, step by step."""
    folder, many = str(place / "many"), str(cells)
    rows = [{"what": "run and append all cells"} | _step("fill", folder, many)]
    rows.append({"what": "resume: nothing is missing"} | _step("scan", folder))
    rows.append({"what": "status"} | _step("status", folder))
    rows.append({"what": "open after a kill: every row"} | _step("killed", folder))
    rows.append({"what": "export the table"} | _step("export", folder))
    return rows


def _step(name: str, *arguments: str, python: str = sys.executable) -> dict[str, Any]:
    """Run a step in a process of its own; return what it tells, and its memory."""
    done = subprocess.run(
        [python, "-m", "benchmarks.sweep", "--step", name, "--", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _told(begin: float, cpu: float, **more: Any) -> dict[str, Any]:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak_mb": used / 1024,
        **more,
    }


def _sweep(folder: str, cells: str, workers: str, rounds: str) -> dict[str, Any]:
    """Run a sweep of cells that only turn."""
    from simgap.sweeps import LocalEngine

    return _swept(folder, cells, rounds, LocalEngine(int(workers)))


def _swept(folder: str, cells: str, rounds: str, engine: Any) -> dict[str, Any]:
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
    return _told(begin, cpu, cells=int(cells), **_second_half(ends))


def _second_half(ends: list[tuple[float, float]]) -> dict[str, float]:
    """Return seconds and the driver's own for a cell, when workers have started."""
    half = len(ends) // 2
    many = len(ends) - 1 - half
    clock, cpu = ((b - a) / many for a, b in zip(ends[half], ends[-1], strict=True))
    return {"steady": clock, "steady_cpu": cpu}


def _pool(cells: str, workers: str) -> dict[str, Any]:
    """Run tasks that do nothing in a bare pool, one at a time as cells are."""
    begin, cpu = time.perf_counter(), time.process_time()
    with ProcessPoolExecutor(int(workers), get_context("spawn")) as pool:
        ends = [
            (time.perf_counter(), time.process_time())
            for _ in pool.map(turned, [0] * int(cells))
        ]
    return _told(begin, cpu, cells=int(cells), **_second_half(ends))


def _ray(folder: str, cells: str) -> dict[str, Any]:
    """Run tasks that do nothing on Ray, bare and by a sweep; then let many wait."""
    with tempfile.TemporaryDirectory(prefix="sgray") as home:
        os.environ |= {"HOME": home, "RAY_TMPDIR": home, "RAY_AUTH_MODE": "token"}
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        import ray

        from simgap.sweeps import RayEngine

        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
        task = ray.remote(lambda rounds: rounds)
        ray.get([task.remote(0) for _ in range(20)])
        begin, cpu = time.perf_counter(), time.process_time()
        refs = [task.remote(0) for _ in range(int(cells))]
        ends = []
        for each in refs:
            ray.get(each)
            ends.append((time.perf_counter(), time.process_time()))
        about = {"workers": 2, "version": ray.__version__}
        rows = [{"by": "Ray tasks", **about}]
        rows[0] |= _told(begin, cpu, cells=int(cells), **_second_half(ends))
        rows.append({"by": "simgap sweep --engine ray", **about})
        rows[1] |= _swept(folder, cells, "0", RayEngine())
        sleeping = ray.remote(lambda: time.sleep(600.0))
        refs = [sleeping.remote() for _ in range(UNDER_WAY)]
        begin = time.perf_counter()
        for _ in range(20):
            ray.wait(refs, num_returns=len(refs), timeout=0)
        rows[1]["wait"] = (time.perf_counter() - begin) / 20
        ray.shutdown()
    return {"rows": rows}


def _fill(folder: str, cells: str) -> dict[str, Any]:
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
    return _told(begin, cpu, cells=int(cells), bytes=size, rate=rate)


def _scan(folder: str) -> dict[str, Any]:
    from simgap.sweeps import resume

    begin, cpu = time.perf_counter(), time.process_time()
    resume(folder, engine=Instantly())
    return _told(begin, cpu)


def _status(folder: str) -> dict[str, Any]:
    from simgap.sweeps import status

    begin, cpu = time.perf_counter(), time.process_time()
    status(folder)
    return _told(begin, cpu)


def _killed(folder: str) -> dict[str, Any]:
    """Open the ledger of a driver that was killed: its seal is open."""
    from simgap.ledger import opened_ledger
    from simgap.ledger.seal import read_seal, write_seal

    seal = read_seal(Path(folder))
    assert seal is not None
    write_seal(Path(folder), type(seal)(seal.rows, seal.digests))
    begin, cpu = time.perf_counter(), time.process_time()
    with opened_ledger(Path(folder), "sweep") as ledger:
        rows = len(ledger.statuses())
    return _told(begin, cpu, rows=rows)


def _export(folder: str) -> dict[str, Any]:
    from simgap.sweeps import export_table

    begin, cpu = time.perf_counter(), time.process_time()
    told = export_table(folder, Path(folder) / "copy.csv")
    return _told(begin, cpu, bytes=told.bytes)


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


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "sweep": _sweep,
    "pool": _pool,
    "ray": _ray,
    "fill": _fill,
    "scan": _scan,
    "status": _status,
    "killed": _killed,
    "export": _export,
}


def _print_overhead(rows: list[dict[str, Any]]) -> None:
    print("| cells that do nothing, by | workers | ms a cell | driver's CPU ms |")
    print("|---|---|---|---|")
    for row in rows:
        each, cpu = 1e3 * row["steady"], 1e3 * row["steady_cpu"]
        print(f"| {row['by']} | {row['workers']} | {each:.2f} | {cpu:.2f} |")
        if "wait" in row:
            print(f"\nray.wait for {UNDER_WAY} tasks: {1e3 * row['wait']:.1f} ms")


def _print_two(two: dict[str, Any]) -> None:
    print(
        f"\ncells of {CELL_MS:.0f} ms: {1e3 * two['one']['steady']:.1f} ms a cell by "
        f"one worker, {1e3 * two['two']['steady']:.1f} by two: {two['ratio']:.2f} "
        f"times (goal {GOAL})\n"
    )


def _print_ledger(rows: list[dict[str, Any]]) -> None:
    fill = rows[0]
    print(
        f"{fill['cells']} cells: ledger of {fill['bytes'] / 1e6:.0f} MB, "
        f"{fill['bytes'] / fill['cells']:.0f} bytes a cell; the driver alone: "
        f"{fill['rate']:.0f} cells a second\n"
    )
    print("| with so many | seconds | CPU s | peak MB |\n|---|---|---|---|")
    for row in rows:
        numbers = f"{row['seconds']:.1f} | {row['cpu']:.1f} | {row['peak_mb']:.0f}"
        print(f"| {row['what']} | {numbers} |")


PRINTED: dict[str, Callable[[Any], None]] = {
    "overhead": _print_overhead,
    "two": _print_two,
    "ledger": _print_ledger,
}


if __name__ == "__main__":
    sys.exit(main())
