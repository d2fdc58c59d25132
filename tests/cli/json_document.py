"""The tables of docs/json.md, made from the records; run as a module it writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simgap.cli.verbs.schema import answering_verbs, schema_of_all

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
EVERYWHERE = ("schema", "kind", "notes", "certainty", "provenance")  # in its head
MARK = "<!-- what follows is made by: python -m tests.cli.json_document -->\n"


def tables() -> str:
    """Return the keys of every verb, then the keys of the objects in them."""
    parts = schema_of_all()["$defs"]
    verbs = answering_verbs()
    lines = ["| verb | its answer |", "|---|---|"]
    lines += [f"| `simgap {verb}` | {_spelt(parts[verb])} |" for verb in verbs]
    sections = ["## Verbs\n", "\n".join(lines) + "\n", "## Objects\n"]
    others = sorted(set(parts) - set(verbs) - {"number"}, key=str.lower)
    sections += [
        f"### {name}\n\n{parts[name]['description']}\n\n{_table(parts[name])}"
        for name in others
    ]
    return "\n".join(sections)


def _table(part: dict[str, Any]) -> str:
    if "properties" not in part:
        return f"{_spelt(part)}\n"
    lines = ["| key | what it is | meaning |", "|---|---|---|"]
    for key, told in part["properties"].items():
        if key not in EVERYWHERE:
            meaning = told.get("description", "").replace("|", "\\|")
            lines.append(f"| `{key}` | {_spelt(told)} | {meaning} |")
    return "\n".join(lines) + "\n"


def _spelt(told: dict[str, Any]) -> str:
    """Return the words for a type."""
    if "$ref" in told:
        name = told["$ref"].rpartition("/")[2]
        anchor = name.lower().replace(".", "")
        return "number" if name == "number" else f"[{name}](#{anchor})"
    if "anyOf" in told:
        return " or ".join(_spelt(each) for each in told["anyOf"])
    if "enum" in told:
        return " or ".join(f'`"{each}"`' for each in told["enum"])
    if "prefixItems" in told:
        return f"list: {', '.join(_spelt(each) for each in told['prefixItems'])}"
    if "items" in told:
        return f"list of {_spelt(told['items'])}"
    if "additionalProperties" in told:
        return f"object: name to {_spelt(told['additionalProperties'])}"
    return {
        "array": "list",
        "object": "object",
        None: "anything",
        "integer": "whole number",
        "string": "text",
        "boolean": "true or false",
        "null": "null",
    }[told.get("type")]


if __name__ == "__main__":
    text = DOCUMENT.read_text()
    head, found, _ = text.partition(MARK)
    assert found, f"{DOCUMENT} has no line {MARK!r}"
    DOCUMENT.write_text(head + MARK + "\n" + tables())
