"""Who needs whom, read from the sources: kernels that contain others, imports."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

KERNELS = "src/simgap/_kernels"


@cache
def files_needed(root: Path, path: str) -> frozenset[str]:
    """Return a file and the files with kernels that it imports, and they in turn."""
    found, todo = set[str](), [path]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += [file for file, _ in _imports(root, each).values()]
    return frozenset(found)


def users_of_kernels(root: Path, names: set[str]) -> set[str]:
    """Return the functions, "file:name", that use some kernels, or others that do."""
    edges = _uses(root)
    found, todo = set[str](), list(names)
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += edges.get(each, ())
    return found


@cache
def imports_between(root: Path, test: str) -> dict[str, int]:
    """Return how many imports each file is away from a test file."""
    away, todo = {test: 0}, [test]
    for path in todo:
        for each in _imports(root, path, "simgap.").values():
            if each[0] not in away:
                away[each[0]] = away[path] + 1
                todo.append(each[0])
    return away


@cache
def names_in(root: Path, path: str) -> dict[str, set[str]]:
    """Return by function of a file the names that it uses."""
    return {
        function: {
            each.id if isinstance(each, ast.Name) else each.attr
            for each in ast.walk(node)
            if isinstance(each, ast.Name | ast.Attribute)
        }
        for function, node in _functions(_tree(root / path))
    }


def functions_of(root: Path, path: str) -> set[str]:
    """Return the functions of a file, "file:name"."""
    return {f"{path}:{name}" for name, _ in _functions(_tree(root / path))}


@cache
def _uses(root: Path) -> dict[str, set[str]]:
    """Return by kernel which functions name it."""
    edges: dict[str, set[str]] = {}
    for file in sorted([*root.glob("src/**/*.py"), *root.glob("tests/**/*.py")]):
        path = str(file.relative_to(root))
        known = _imports(root, path)
        tree = _tree(file)
        if path.startswith(KERNELS):
            known = known | {name: (path, name) for name, _ in _functions(tree)}
        if not known:
            continue
        for name, node in _functions(tree):
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and each.id in known:
                    kernel = ":".join(known[each.id])
                    edges.setdefault(kernel, set()).add(f"{path}:{name}")
    return edges


@cache
def _imports(
    root: Path, path: str, of: str = "simgap._kernels."
) -> dict[str, tuple[str, str]]:
    """Return by name what a file imports of kernels: the file and the name there.

    A text that names a module imports it, as `import_module("simgap.text")` does.
    """
    found = {}
    for node in ast.walk(_tree(root / path)):
        if isinstance(node, ast.Constant) and str(node.value).startswith(of):
            file = f"src/{str(node.value).replace('.', '/')}.py"
            if (root / file).is_file():
                found[str(node.value)] = (file, "")
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(of):
            for each in node.names:
                file = f"src/{str(node.module).replace('.', '/')}"
                real = _where(root, file, each.name)
                if real is not None:
                    found[each.asname or each.name] = (real, each.name)
    return found


def _where(root: Path, file: str, name: str) -> str | None:
    """Return the file in which a name is defined that a module or room gives."""
    for each in (f"{file}.py", f"{file}/{name}.py"):
        if (root / each).is_file():
            return each
    names = root / file / "__init__.pyi"
    if not names.is_file():
        names = names.with_suffix(".py")
    for node in ast.walk(_tree(names)):
        if isinstance(node, ast.ImportFrom) and name in {e.name for e in node.names}:
            return _where(root, f"src/{str(node.module).replace('.', '/')}", name)
    return None


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _functions(tree: ast.Module) -> list[tuple[str, ast.AST]]:
    found: list[tuple[str, ast.AST]] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append((node.name, node))
        elif isinstance(node, ast.ClassDef):
            found += [
                (f"{node.name}.{each.name}", each)
                for each in node.body
                if isinstance(each, ast.FunctionDef)
            ]
    return found
