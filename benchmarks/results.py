"""What all benchmarks share: timing, the machine, one JSON file a table, its place.

A script declares `Table`s and calls `run`. Rows are shown as they come; then
`results/NAME.json` is written, and from it the part of docs/benchmarks.md between
`<!-- table: NAME -->` and `<!-- end -->`. A quick run writes nothing.

Only the standard library is imported: peers with interpreters of their own use this.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, final

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
REPEATS = 5
LEAST = 0.02  # seconds that one of the repeats takes, by as many calls as that needs
DISTRIBUTIONS = {  # what a version is told of, if the module was imported
    **{
        name: name for name in ("numpy", "scipy", "numba", "jax", "mujoco", "gymnasium")
    },
    **{name: name for name in ("onnxruntime", "stormpy", "quantecon", "torch", "ray")},
    "mdptoolbox": "pymdptoolbox",
    "stable_baselines3": "stable-baselines3",
    "sb3_contrib": "sb3-contrib",
    "statisticalrl_learners": "statisticalrl-learners",
}
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")

Asked = dict[str, Any]
Cell = Any  # str, int, float, bool, None or a spread; all but the last as in JSON
Row = Sequence[Cell]
Timed = tuple[float, Any]  # CPU seconds, the answer


class Spread(NamedTuple):
    """The median of some repeats, the least and the greatest of them."""

    median: float
    least: float
    greatest: float


def spread(values: Sequence[float]) -> Spread:
    """Return the median of some values, the least and the greatest."""
    return Spread(statistics.median(values), min(values), max(values))


def timed(call: Callable[..., Any], *arguments: Any, **options: Any) -> Timed:
    """Return CPU seconds and answer of one call."""
    begin = time.process_time()
    answer = call(*arguments, **options)
    return time.process_time() - begin, answer


def measured(
    *tasks: Callable[[], Timed], repeats: int = REPEATS
) -> tuple[list[Any], list[list[float]]]:
    """Return what each task answers and its CPU seconds, repeated in turn.

    A first call of each, which compiles what has to be compiled, does not count.
    """
    answers = [task()[1] for task in tasks]
    calls = [
        max(1, min(200, math.ceil(LEAST / max(task()[0], 1e-6)))) for task in tasks
    ]
    seconds: list[list[float]] = [[] for _ in tasks]
    for _ in range(repeats):
        for task, many, found in zip(tasks, calls, seconds, strict=True):
            gc.collect()
            found.append(sum(task()[0] for _ in range(many)) / many)
    return answers, seconds


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> Spread:
    """Return how many times as long they took, repeat by repeat."""
    return spread([a / b for a, b in zip(theirs, ours, strict=True)])


def scaled(values: Sequence[float], factor: float) -> Spread:
    """Return the spread of values times a factor."""
    return spread([factor * each for each in values])


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A table of docs/benchmarks.md: its columns, and what measures its rows.

    A cell of the column `met` that is False is a goal missed: the run ends with 1.
    """

    name: str
    columns: str  # "task | peer | ..."
    rows: Callable[[argparse.Namespace], Iterable[Row]]
    digits: Mapping[str, int] = field(default_factory=dict)  # of columns; else three


def run(
    script: str,
    about: str,
    tables: Sequence[Table],
    *,
    options: Mapping[str, str] | None = None,
    child: Callable[[Asked], Iterable[Asked]] | None = None,
) -> int:
    """Measure tables as the command line says; return the exit status.

    `child` answers what `started` asks for in a process of its own. Every one of
    `options` is needed for what is written: no row is lost because a peer is missing.
    """
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="less, and write nothing")
    names = [table.name for table in tables]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    for name, words in (options or {}).items():
        parser.add_argument(name, help=words)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child and child is not None:
        return answer(child)
    for name in options or {}:
        if (
            not given.quick
            and getattr(given, name.strip("-").replace("-", "_")) is None
        ):
            parser.error(f"give {name}, or --quick")
    missed = 0
    for table in tables:
        if table.name in given.only:
            rows = []
            for row in table.rows(given):
                rows.append([getattr(cell, "item", lambda c=cell: c)() for cell in row])
                print(*map(_shown, rows[-1]), sep=" | ", file=sys.stderr, flush=True)
            record = recorded(table, rows, f"python -m {script}")
            columns = record["columns"]
            if "met" in columns:
                missed += sum(row[columns.index("met")] is False for row in rows)
            print(f"\n{rendered(record)}", flush=True)
            if not given.quick:
                write(record)
    print(f"{missed} goals missed")
    return 1 if missed and not given.quick else 0


def started(python: str, module: str, asked: Asked) -> Iterator[Asked]:
    """Return what `module --child` answers in some interpreter, one thread each."""
    with subprocess.Popen(
        [python, "-m", module, "--child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(asked))
        process.stdin.close()
        for line in process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                _elsewhere.update(told.pop("versions"))
                yield told
    if process.returncode:
        raise RuntimeError(f"{python} -m {module} ended with {process.returncode}")


def answer(child: Callable[[Asked], Iterable[Asked]]) -> int:
    """Answer what `started` asks for, and tell the versions of what it took."""
    for line in child(json.load(sys.stdin)):
        print(json.dumps({**line, "versions": versions()}), flush=True)
    return 0


_elsewhere: dict[str, str] = {}  # versions that other processes have told


def versions() -> dict[str, str]:
    """Return versions of the libraries that this process has imported."""
    found = {}
    for module, name in DISTRIBUTIONS.items():
        if module in sys.modules:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = str(getattr(sys.modules[module], "__version__", "?"))
    return found


def recorded(table: Table, rows: Sequence[Row], command: str) -> Asked:
    """Return what is written of a table: rows, code, machine, day and versions."""
    return {
        "table": table.name,
        "command": command,
        "commit": _commit(),
        "date": date.today().isoformat(),
        "machine": _machine(),
        "versions": dict(sorted((_elsewhere | versions()).items())),
        "columns": table.columns.split(" | "),
        "digits": dict(table.digits),
        "rows": [list(row) for row in rows],
    }


def _commit() -> str:
    """Return the commit that is measured, with a mark if the code was changed."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    code = ("src", "tools", "benchmarks/*.py", "pyproject.toml")
    changed = git("status", "--porcelain", "--", *code)
    return git("rev-parse", "--short=10", "HEAD") + (" with changes" if changed else "")


def _machine() -> Asked:
    info = Path("/proc/cpuinfo")
    names = re.findall(
        r"model name\s*: (.*)", info.read_text() if info.exists() else ""
    )
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        system = platform.system()
    return {
        "cpu": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),  # this program's own is one
        "os": system,
        "python": platform.python_version(),
    }


def write(record: Asked) -> None:
    """Write the JSON file of a table, and the table in docs/benchmarks.md."""
    RESULTS.mkdir(exist_ok=True)
    rows = ",\n".join(f"  {json.dumps(row)}" for row in record["rows"])
    head = json.dumps({**record, "rows": []}, indent=1).removesuffix("[]\n}")
    (RESULTS / f"{record['table']}.json").write_text(f"{head}[\n{rows}\n ]\n}}\n")
    PAGE.write_text(page(PAGE.read_text()))


def saved(name: str, folder: Path = RESULTS) -> Asked | None:
    """Return what was written of a table; None: it was not measured yet."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def page(text: str, folder: Path = RESULTS) -> str:
    """Return a document with all its tables as the JSON files have them."""

    def told(match: re.Match[str]) -> str:
        record = saved(match[2], folder)
        body = "Not measured yet.\n" if record is None else rendered(record)
        return f"{match[1]}{body}{match[3]}"

    return MARKED.sub(told, text)


def rendered(record: Asked) -> str:
    """Return a table in Markdown, with a sentence on what it was measured."""
    columns = record["columns"]
    digits = [record["digits"].get(name, 3) for name in columns]
    lines = [columns, ["---"] * len(columns)]
    lines += [list(map(_shown, row, digits)) for row in record["rows"]]
    machine = record["machine"]
    libraries = ", ".join(f"{name} {each}" for name, each in record["versions"].items())
    return (
        "".join(f"| {' | '.join(line)} |\n" for line in lines)
        + f"\n`{record['command']}`, {record['date']}, commit {record['commit']}; "
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}; "
        f"{machine['os']}, Python {machine['python']}, {libraries}.\n"
    )


def _shown(cell: Cell, digits: int = 3) -> str:
    """Return a cell as text; a spread as its median (least..greatest)."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "NO"
    if isinstance(cell, list | tuple):
        median, least, greatest = (_shown(each, digits) for each in cell)
        return median if least == greatest else f"{median} ({least}..{greatest})"
    if isinstance(cell, float) and math.isfinite(cell):
        size = math.floor(math.log10(abs(cell))) if cell else 0
        if -4 < size < 7:
            return f"{cell:.{max(0, digits - 1 - size)}f}"
        return f"{cell:.{digits - 1}e}"
    return str(cell)
