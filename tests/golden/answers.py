"""What the command line answers to the commands of `cases.toml`, in small files.

A file has the command, its exit status, the machine and the outline of the answer: all
of its keys and numbers, and the strings that programs read. What may change from run
to run, and prose, is kept as "…": that it is there counts, what it says does not.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
import shlex
import shutil
import tempfile
import tomllib
from collections.abc import Collection, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

ANY = "…"
LONGEST, SHOWN = 12, 5  # longer lists are thinned to so many of their entries

VOLATILE = frozenset({  # whatever their values are
    "provenance", "trace", "seconds", "compile_seconds", "baseline_seconds",
    "total_seconds", "steps_per_second", "bytes", "largest_bytes",
    "path", "file", "model_file", "policy_file", "belief_policy_file", "report",
    "page", "table", "record", "records", "next",
})  # fmt: skip
PROSE = frozenset({
    "text", "note", "message", "hint", "headline", "reason", "about", "title",
    "description", "outcome", "solver", "method", "why", "sentence",
})  # fmt: skip
NAMES = frozenset({"name", "names", "model", "policy", "reference", "certainty"})

LIBRARIES = (
    "numpy", "scipy", "numba", "llvmlite", "jax", "jaxlib", "gymnasium", "mujoco",
    "onnxruntime",
)  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Commands that share a folder; each may need what the ones before it left."""

    name: str
    cases: dict[str, str]  # case -> command line
    inputs: tuple[str, ...]  # files of the repository that are copied there
    slow: bool


def groups() -> tuple[Group, ...]:
    """Return all groups of `cases.toml`."""
    table = tomllib.loads((HERE / "cases.toml").read_text())
    return tuple(
        Group(
            name,
            {f"{name}-{case}": command for case, command in group["cases"].items()},
            tuple(group.get("inputs", ())),
            group.get("slow", False),
        )
        for name, group in table.items()
    )


def moved_numbers() -> dict[str, str]:
    """Return the places of numbers whose last bits moved, each with the reason."""
    reasons: dict[str, str] = tomllib.loads((HERE / "moved.toml").read_text())
    return reasons


def golden_file(case: str) -> Path:
    """Return where the answer of a case is kept."""
    return HERE / f"{case}.json"


def answers(group: Group) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the commands of a group in a new folder; yield each case with its answer."""
    with tempfile.TemporaryDirectory() as folder:
        for name in group.inputs:
            shutil.copy(ROOT / name, folder)
        for case, command in group.cases.items():
            yield case, _answer(command, Path(folder))


def _answer(command: str, folder: Path) -> dict[str, Any]:
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        status = _command_line()([*shlex.split(command), "--json"])
    try:
        record = json.loads(out.getvalue())
    except json.JSONDecodeError:
        raise RuntimeError(
            f"simgap {command}: status {status}, no JSON: {err.getvalue()[-500:]}"
        ) from None
    if str(path := record.get("path")).endswith(".csv"):
        record |= {"hash": ANY, "rows": _rows(folder / str(path))}
    return {
        "command": command,
        "status": status,
        "machine": machine(),
        "answer": outline(record),
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open() as file:
        return [
            {name: _number(text) for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _command_line() -> Any:
    """Return what the command `simgap` calls, wherever it lives today."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["simgap"].partition(":")
    return getattr(import_module(module), function)


def outline(value: Any, name: str = "") -> Any:
    """Return what a file keeps of a value that stands under a name."""
    if name in VOLATILE:
        return ANY
    if isinstance(value, dict):
        inside = {key: name if name in NAMES else key for key in value}
        return {key: outline(each, inside[key]) for key, each in value.items()}
    if isinstance(value, list):
        entries = [outline(each, name) for each in value]
        if len(entries) <= LONGEST:
            return entries
        every = (len(entries) - 1) // (SHOWN - 1)
        return {"length": len(entries), "every": every, "shown": entries[::every]}
    if isinstance(value, str) and name not in NAMES:
        return ANY if name in PROSE or " " in value else value
    return value


def machine() -> str:
    """Return what decides the last bits of a float: the processor and libraries."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    return " ".join([
        platform.system(),
        platform.machine(),
        "".join(platform.libc_ver()),
        binding.get_host_cpu_name(),
        hashlib.sha256(features.encode()).hexdigest()[:8],
        *(f"{each} {version(each)}" for each in LIBRARIES),
    ])  # fmt: skip


def layout(value: Any, indent: int = 0, width: int = 200) -> str:
    """Return JSON in which whatever fits in a line is one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(line) <= width - indent:
        return line
    inner = "\n" + " " * (indent + 1)
    if isinstance(value, list):
        items = [layout(each, indent + 1, width) for each in value]
        return f"[{inner}{f',{inner}'.join(items)}\n{' ' * indent}]"
    items = [
        f"{json.dumps(key)}: {layout(each, indent + 1, width)}"
        for key, each in value.items()
    ]
    return f"{{{inner}{f',{inner}'.join(items)}\n{' ' * indent}}}"


def select(names: Collection[str]) -> tuple[Group, ...]:
    """Return the groups that are named, whole or by one of their cases; or all."""
    every = groups()
    known = {each for group in every for each in (group.name, *group.cases)}
    if unknown := set(names) - known:
        raise SystemExit(
            f"no case or group {', '.join(sorted(unknown))}; there are "
            f"{', '.join(sorted(known))}"
        )
    return tuple(
        group for group in every if not names or {group.name, *group.cases} & set(names)
    )
