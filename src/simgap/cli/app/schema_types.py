"""The JSON Schema (draft 2020-12) of a frozen dataclass, as `simgap.records` writes it.

Type hints give the types, the comment behind a field its description (or the word of
`schema_words`), the first paragraph of a docstring that of an object. Names that a
module imports for its hints only are imported here, those that the hints need and no
others.

Every field is written, so every one is required; a later version may add some, so that
others are allowed. A float may be the text "inf" or "-inf".
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import sys
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, final, get_args, get_origin, get_type_hints

from simgap.cli.app.schema_words import meaning_of
from simgap.intervals import Certified, Estimate, Interval
from simgap.records import JSON_NAMES, SCHEMA, is_flat, is_kept

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = "number"  # the name of the part that every float refers to

Json = dict[str, Any]

_PLAIN = {bool: "boolean", int: "integer", str: "string", NoneType: "null"}


def answer_schema(title: str, *answers: type) -> Json:
    """Return the schema of one answer, with everything it refers to in `$defs`.

    A verb with several records answers with one of them.
    """
    parts = _Parts()
    whole = parts.answer(answers)
    return {"$schema": DIALECT, "title": title, **whole, "$defs": parts.found()}


def joint_schema(title: str, answers: Mapping[str, tuple[type, ...]]) -> Json:
    """Return one schema that holds for every answer, each under the name of its verb.

    `#/$defs/oracle` is the answer of `simgap oracle`.
    """
    parts = _Parts(taken=set(answers))
    records = {verb: parts.answer(kinds) for verb, kinds in answers.items()}
    return {
        "$schema": DIALECT,
        "title": title,
        "anyOf": [_reference(verb) for verb in records],
        "$defs": {**records, **parts.found()},
    }


@final
@dataclass(frozen=True, slots=True)
class _Parts:
    """The objects that a schema refers to, by name; filled while hints are read."""

    taken: set[str] = field(default_factory=set)  # names that mean something else
    names: dict[type, str] = field(default_factory=dict)
    schemas: dict[str, Json] = field(default_factory=dict)

    def found(self) -> Json:
        number = {
            "description": "A number; infinities are text.",
            "anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}],
        }
        return {NUMBER: number, **dict(sorted(self.schemas.items()))}

    def answer(self, kinds: tuple[type, ...]) -> Json:
        """Return the schema of an answer: a record, or one of several."""
        if len(kinds) == 1:
            return self.object(kinds[0])
        names = [self.name_of(each) for each in kinds]
        return {
            "description": f"one of {len(kinds)} records: {' or '.join(names)}",
            "anyOf": [_reference(name) for name in names],
        }

    def object(self, kind: type) -> Json:
        hints, comments = _hints(kind), field_comments(kind)
        properties: Json = {}
        for each in filter(is_kept, fields(kind)):
            if is_flat(each):
                inside = self.object(hints[each.name])["properties"]
                properties |= {k: inside[k] for k in inside if k not in properties}
                continue
            form = each.name == "schema"  # of a record
            found = {"const": SCHEMA} if form else self.of(hints[each.name])
            whole = hints[each.name] is int
            meaning = meaning_of(kind.__name__, each.name, whole=whole)
            if told := comments.get(each.name) or meaning:
                found = {**found, "description": told}
            properties[JSON_NAMES.get(each.name, each.name)] = found
        about = {"description": _about(kind)} if _about(kind) else {}
        return {
            "type": "object",
            **about,
            "properties": properties,
            "required": list(properties),
        }

    def of(self, hint: Any) -> Json:
        """Return the schema of a type hint."""
        origin, given = get_origin(hint), get_args(hint)
        if hint is Any:
            return {}
        if hint is Interval:
            hint = Certified | Estimate
            origin, given = get_origin(hint), get_args(hint)
        if hint is float:
            return _reference(NUMBER)
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if isinstance(hint, type) and is_dataclass(hint):
            return _reference(self.name_of(hint))
        if origin is Literal:
            return {"enum": list(given)}
        if isinstance(hint, type) and issubclass(hint, StrEnum):
            return {"enum": [each.value for each in hint]}
        if origin in (Union, UnionType):
            return {
                "anyOf": [{**self.of(each), **_less(each, given)} for each in given]
            }
        if origin is tuple and given[-1] is not Ellipsis:
            size = len(given)
            items = [self.of(each) for each in given]
            return {
                "type": "array",
                "prefixItems": items,
                "minItems": size,
                "maxItems": size,
            }
        if origin in (tuple, list):
            return {"type": "array", "items": self.of(given[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(given[1])}
        raise TypeError(f"{hint!r} has no JSON Schema: a defect of simgap")

    def name_of(self, kind: type) -> str:
        """Return the name of an object's part, which is made when it is first met."""
        if kind not in self.names:
            short = kind.__name__
            if short in self.taken or short in self.schemas:
                short = f"{kind.__module__.rpartition('.')[2]}.{short}"
            self.names[kind] = short
            self.schemas[short] = {}  # so that an object may hold its own kind
            self.schemas[short] = self.object(kind)
        return self.names[kind]


def field_comments(kind: type) -> dict[str, str]:
    """Return the comment behind each field; nothing where the source is not there."""
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        return {}
    words = io.StringIO(source).readline
    by_line = {
        token.start[0]: _in_json(token.string.lstrip("# ").strip())
        for token in tokenize.generate_tokens(words)
        if token.type == tokenize.COMMENT
    }
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            told = " ".join(by_line[line] for line in lines if line in by_line)
            if told:
                found[node.target.id] = told
    return found


def _less(kind: Any, others: tuple[Any, ...]) -> Json:
    """Return what tells an object from one of the others that has its keys and more.

    Without it an estimate that lost its number would pass as a certified bracket.
    """
    own = _keys(kind)
    larger = [_keys(other) for other in others if own and set(own) < set(_keys(other))]
    extra = [next(key for key in keys if key not in own) for keys in larger]
    return {"not": {"anyOf": [{"required": [key]} for key in extra]}} if extra else {}


def _keys(kind: Any) -> list[str]:
    return [each.name for each in fields(kind)] if is_dataclass(kind) else []


def _hints(kind: type) -> dict[str, Any]:
    """Return the types of the fields, also of those imported for type checkers only."""
    module = sys.modules[kind.__module__]
    used = {
        node.id
        for each in fields(kind)
        if isinstance(each.type, str)
        for node in ast.walk(ast.parse(each.type, mode="eval"))
        if isinstance(node, ast.Name)
    }
    missing = {name for name in used if not hasattr(module, name)}
    return get_type_hints(kind, localns=_imported(module, missing) if missing else {})


def _imported(module: Any, wanted: set[str]) -> dict[str, Any]:
    """Return what a module imports under `if TYPE_CHECKING`, for these names."""
    found = {}
    for block in ast.parse(inspect.getsource(module)).body:
        if not (isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)):
            continue
        for node in block.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    name = alias.asname or alias.name
                    if name in wanted:
                        found[name] = getattr(import_module(node.module), alias.name)
    return found


def _about(kind: type) -> str:
    paragraphs = (inspect.getdoc(kind) or "").split("\n\n")
    return _in_json(" ".join(paragraphs[0].split()))


def _in_json(text: str) -> str:
    """Return a comment about a Python value as one about the JSON it becomes."""
    return re.sub(r"\bNone\b", "null", text)


def _reference(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}
