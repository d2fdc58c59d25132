"""What a command left in a folder: every file whole, and what no run may change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from simgap import load_model
from simgap.policies import load_policy

UNLIKE = ("seconds", "steps_per_second", "trace", "largest_bytes", "records", "reused")


def records_in(folder: Path) -> dict[str, Any]:
    """Return what differs in no run; every other file is whole."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".json":
            found[name] = untimed(json.loads(path.read_bytes()))
        elif path.suffix in {".onnx", ".csv"} or path.name == "returns.npz":
            found[name] = path.read_bytes()
        elif path.name == "model.simgap" or path.suffix == ".npz":
            load_model(path)
        elif path.suffix == ".simgap":
            load_policy(path)
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")
    return found


def untimed(value: Any) -> Any:
    """Return a record without what differs from run to run."""
    if isinstance(value, dict):
        kept = {key: untimed(each) for key, each in value.items()}
        return {k: v for k, v in kept.items() if not k.endswith(UNLIKE)}
    return [untimed(each) for each in value] if isinstance(value, list) else value
