"""Python files of users: `file.py:name` is what the file calls `name`.

The file runs as its user, with everything that user may do: whoever names a file of
somebody else on the command line runs it. It is read and run once, its own folder is
searched for what it imports, and whatever goes wrong while it runs is told with the
line of the file.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, final

from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import listed, shown, suggestion
from simgap.user_files import opened

LARGEST = 10_000_000  # bytes of source
ENDING = ".py"
HOUSE = Path(__file__).parent.parent  # of simgap's own code


@final
@dataclass(frozen=True, slots=True)
class UserCode:
    """One name of a user's file, and the file it stands in."""

    path: Path
    name: str
    value: Any
    module: ModuleType

    def get(self, name: str) -> Any:
        """Return another name of the same file, None if it has none of that name."""
        return getattr(self.module, name, None)


def names_user_code(text: str) -> bool:
    """Return whether a text names a Python file: `file.py:name`, or `file.py` alone."""
    path, sign, name = text.rpartition(":")
    return text.endswith(ENDING) or bool(sign and path.endswith(ENDING) and name)


def user_code(
    text: str, *, example: str, fits: Callable[[Any], bool] = callable
) -> UserCode:
    """Return what `file.py:name` stands for, a function; `example` is a usual name.

    `fits` says what else it may be.
    """
    path, _, name = text.rpartition(":")
    if text.endswith(ENDING):
        path, name = text, ""
    module = user_module(Path(path))
    offered = _functions(module)
    if not name:
        raise InvalidArgument(
            f"{path} is a file, and no function of it is named",
            hint=f"write {path}:{(offered or [example])[0]}",
            code="no-function-named",
        )
    value = getattr(module, name, None)
    if value is None:
        raise InvalidArgument(
            f"there is no {shown(name)} in {path}",
            hint=suggestion(name, offered)
            or (f"it has {listed(offered)}" if offered else f"define {example} there"),
            code="no-such-name",
        )
    if not fits(value):
        raise InvalidArgument(
            f"{shown(name)} in {path} is {type(value).__name__}, not a function",
            hint=f"it has {listed(offered)}" if offered else f"define {example} there",
            code="not-a-function",
        )
    return UserCode(Path(path), name, value, module)


def user_module(path: Path) -> ModuleType:
    """Return what a Python file defines; the same file is run only once."""
    with opened(path, "Python file", endings=(ENDING,)) as stream:
        source = stream.read(LARGEST + 1)
    if len(source) > LARGEST:
        raise InvalidFile(
            f"{path} has more than {LARGEST} bytes", hint="is it another kind of file?"
        )
    whole = path.resolve()
    key = hashlib.sha256(str(whole).encode() + b"\0" + source).hexdigest()[:16]
    name = f"simgap_user_{path.stem}_{key}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(whole)
    sys.modules[name] = module  # dataclasses of the file look themselves up there
    folder = str(whole.parent)
    sys.path.insert(0, folder)
    try:
        exec(compile(source, str(whole), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, (Exception, SystemExit)):
            raise
        raise InvalidFile(
            f"{path} does not run: {what_happened(error, whole)}",
            hint="it ends the program while it is imported: put that under "
            "`if __name__ == '__main__':`"
            if isinstance(error, SystemExit)
            else f"it must run by itself first: python {path}",
            code="code-does-not-run",
        ) from error
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)  # for what its functions import when they are used
    return module


def what_happened(error: BaseException, path: Path | None = None) -> str:
    """Return `ValueError: no such map (line 12 of file.py)`, for a person.

    The line is the innermost one in the file `path`, or of code that is not installed;
    what only simgap's own lines lead to is told without one.
    """
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        where = f"line {error.lineno} of {Path(error.filename).name}"
        return f"{type(error).__name__}: {error.msg} ({where})"
    frames = [
        each
        for each in traceback.extract_tb(error.__traceback__)
        if not Path(each.filename).is_relative_to(HOUSE)
    ]
    if path is not None:
        mine = [each for each in frames if Path(each.filename) == path.resolve()]
    else:
        mine = [each for each in frames if not _is_installed(each.filename)]
    if not (mine or frames):
        return told
    at = (mine or frames)[-1]
    return f"{told} (line {at.lineno} of {Path(at.filename).name})"


def _is_installed(filename: str) -> bool:
    return "site-packages" in filename or filename.startswith(sys.base_prefix)


def _functions(module: ModuleType) -> list[str]:
    """Return the functions and classes that a file itself defines, in its order."""
    return [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]
