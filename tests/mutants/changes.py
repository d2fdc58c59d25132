"""Small faults that a test should notice: where a source file may have one, and which.

A change is one node of the syntax tree replaced by another. What nobody computes with
is left alone: annotations, decorators, defaults, texts and what an error says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

OTHER_OPERATOR: dict[type[ast.AST], Callable[[], Any]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
PAIRS = (
    *(("max", "min"), ("maximum", "minimum"), ("argmax", "argmin"), ("any", "all")),
    *(("ceil", "floor"), ("cumsum", "cumprod"), ("zeros", "ones"), ("sum", "prod")),
)
OTHER_NAME = dict(PAIRS) | {second: first for first, second in PAIRS}
SYMMETRIC = {*OTHER_NAME, "zip", "isinstance", "array_equal", "isclose", "gcd", "hypot"}
SILENT = (
    ast.Raise,
    ast.Assert,
    ast.JoinedStr,
    ast.Import,
    ast.ImportFrom,
    ast.arguments,
)
UNREAD = {"annotation", "returns", "decorator_list", "type_params"}


@final
@dataclass(frozen=True, slots=True)
class Change:
    """One fault of one file."""

    path: str
    function: str  # qualified name of the outermost one; empty: a constant of the file
    line: int
    column: int
    operator: str
    before: str
    after: str

    @property
    def key(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.before} -> {self.after}"


def changes_of(root: Path, path: str) -> list[Change]:
    """Return every change that a file can have."""
    tree = ast.parse((root / path).read_text())
    return [_described(path, site) for site in _sites(tree)]


def changed_tree(root: Path, change: Change) -> ast.Module:
    """Return the syntax tree of a file with one change."""
    tree = ast.parse((root / change.path).read_text())
    for site in _sites(tree):
        if _described(change.path, site) == change:
            site.put(ast.copy_location(site.after, site.before))
            return ast.fix_missing_locations(tree)
    raise LookupError(f"the file has changed since: {change.key}")


@final
@dataclass(frozen=True, slots=True)
class _Site:
    function: str
    operator: str
    before: Any
    after: Any
    put: Callable[[Any], None]


def _described(path: str, site: _Site) -> Change:
    before, after = (ast.unparse(each) for each in (site.before, site.after))
    line, column = site.before.lineno, site.before.col_offset
    return Change(path, site.function, line, column, site.operator, before, after)


def _sites(tree: ast.Module) -> Iterator[_Site]:
    for node in tree.body:
        if isinstance(
            node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef
        ):
            yield from _below(node, "")


def _below(node: ast.AST, function: str, *, of_class: str = "") -> Iterator[_Site]:
    """Return the changes of what a node is made of."""
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                yield from _below(each, "", of_class=f"{of_class}{node.name}.")
        return
    if isinstance(node, ast.FunctionDef) and not function:
        function = f"{of_class}{node.name}"
    for name, value in ast.iter_fields(node):
        if name in UNREAD:
            continue
        several = isinstance(value, list)
        for at, child in enumerate(value if several else [value]):
            if not isinstance(
                child, ast.expr | ast.stmt | ast.comprehension | ast.keyword
            ):
                continue
            if isinstance(child, SILENT) or getattr(child, "arg", "") == "strict":
                continue  # zip says so where lengths are equal: nothing to notice
            put = _putter(node, name, at if several else None)
            for operator, after in _faults(child, node, name):
                yield _Site(function, operator, child, after, put)
            yield from _below(child, function)


def _putter(node: ast.AST, name: str, at: int | None) -> Callable[[Any], None]:
    def put(after: Any) -> None:
        if at is None:
            setattr(node, name, after)
        else:
            getattr(node, name)[at] = after

    return put


def _faults(node: Any, parent: ast.AST, field: str) -> Iterator[tuple[str, Any]]:
    """Return what a node may be replaced by, each with the kind of fault."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", ast.Constant(value + 1)
        case ast.BinOp(left, op, right) if type(op) in OTHER_OPERATOR:
            if not any(_is_text(each) for each in (left, right)):
                yield "arithmetic", ast.BinOp(left, OTHER_OPERATOR[type(op)](), right)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "sign", operand
        case ast.BoolOp(op, values):
            yield "and-or", ast.BoolOp(OTHER_OPERATOR[type(op)](), values)
        case ast.Compare(left, [op], right):
            yield "comparison", ast.Compare(left, [OTHER_OPERATOR[type(op)]()], right)
        case ast.Call():
            yield from _faults_of_call(node)
        case ast.AugAssign(target, op, value) if type(op) in OTHER_OPERATOR:
            if not _is_text(value):
                new = OTHER_OPERATOR[type(op)]()
                yield "arithmetic", ast.AugAssign(target, new, value)
            yield "dropped statement", ast.Pass()
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield "dropped statement", ast.Pass()
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "dropped statement", ast.Pass()
    asks = isinstance(parent, ast.If | ast.While | ast.IfExp) and field == "test"
    if asks or (isinstance(parent, ast.comprehension) and field == "ifs"):
        yield "negated condition", ast.UnaryOp(ast.Not(), node)


def _faults_of_call(call: ast.Call) -> Iterator[tuple[str, Any]]:
    called, args, keywords = call.func, call.args, call.keywords
    name = ""
    if isinstance(called, ast.Name):
        name = called.id
        if name in OTHER_NAME:
            yield (
                "max-min",
                ast.Call(ast.Name(OTHER_NAME[name], ast.Load()), args, keywords),
            )
    elif isinstance(called, ast.Attribute):
        name = called.attr
        if name in OTHER_NAME:
            other = ast.Attribute(called.value, OTHER_NAME[name], ast.Load())
            yield "max-min", ast.Call(other, args, keywords)
    plain = not any(isinstance(each, ast.Starred) for each in args)
    differ = len({ast.dump(each) for each in args[:2]}) > 1
    if differ and plain and name not in SYMMETRIC:
        swapped = [args[1], args[0], *args[2:]]
        yield "swapped arguments", ast.Call(called, swapped, keywords)
    if name[:1].isupper():
        return  # a record has no optional fields, mostly: all tests would fail
    for at, keyword in enumerate(keywords):
        if keyword.arg not in (None, "strict"):
            rest = keywords[:at] + keywords[at + 1 :]
            yield "dropped keyword", ast.Call(called, args, rest)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
