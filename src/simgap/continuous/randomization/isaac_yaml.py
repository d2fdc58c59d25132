"""YAML that Python wrote, as Isaac Lab does: read without making anything of it.

Tuples become tuples, every other Python object becomes a text that does nothing, and a
file that would grow when read is refused: what is named once and used again may be a
number or a short list of numbers, as in files of older versions, nothing deeper.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simgap.continuous.extras import needed
from simgap.errors import InvalidFile
from simgap.user_files import opened, size_of

LARGEST_FILE = 2**19  # bytes; those of Isaac Lab have some 2**16
LONGEST_SHARED = 100  # entries of a list that is used again
BAD_FILE = "randomize-file"  # code
PYTHON = "tag:yaml.org,2002:python/"
FAULTS = (  # what PyYAML lets through for values that are wrong in themselves
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file: plain values, tuples and texts."""
    yaml = needed("yaml", what=f"reading {path.name}", extra="interop")
    with opened(path, "YAML file", endings=(".yaml", ".yml")) as stream:
        size = size_of(stream)
        content = stream.read(LARGEST_FILE + 1) if size <= LARGEST_FILE else b""
    if max(size, len(content)) > LARGEST_FILE:
        raise _wrong(path, f"it has more than {LARGEST_FILE} bytes")
    try:
        document = yaml.load(content.decode("utf-8-sig"), Loader=_loader(yaml))
    except (yaml.YAMLError, *FAULTS) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise _wrong(path, f"it is not YAML that can be read: {reason}") from error
    if not isinstance(document, dict):
        raise _wrong(path, "it holds no settings")
    return document


def _loader(yaml: Any) -> Any:
    """Return PyYAML's safe loader with two rules more: tags and shared values."""
    safe = yaml.SafeLoader

    def compose_node(self: Any, parent: Any, index: Any) -> Any:
        shared = self.check_event(yaml.events.AliasEvent)
        node = safe.compose_node(self, parent, index)
        if shared and not _is_flat(yaml, node):
            raise yaml.YAMLError(
                f"line {node.start_mark.line + 1} is used again, and has parts itself"
            )
        return node

    loader: Any = type("PlainLoader", (safe,), {"compose_node": compose_node})
    loader.add_constructor(
        f"{PYTHON}tuple", lambda made, node: tuple(made.construct_sequence(node))
    )
    for start in (PYTHON, "!"):
        loader.add_multi_constructor(start, lambda made, tag, node: f"<{tag}>")
    return loader


def _is_flat(yaml: Any, node: Any) -> bool:
    if isinstance(node, yaml.ScalarNode):
        return True
    if node.end_mark is None:  # it is used in itself
        return False
    parts = node.value
    if isinstance(node, yaml.MappingNode):
        parts = [part for pair in parts for part in pair]
    return len(parts) <= LONGEST_SHARED and all(
        isinstance(part, yaml.ScalarNode) for part in parts
    )


def _wrong(path: Path, problem: str) -> InvalidFile:
    return InvalidFile(
        f"{path}: {problem}",
        hint="name the params/env.yaml that Isaac Lab wrote beside a checkpoint",
        code=BAD_FILE,
    )
