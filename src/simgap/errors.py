"""Everything simgap raises on purpose; each error names the problem and the way out."""

from __future__ import annotations

from typing import Any

from simgap.text import clean


class SimgapError(Exception):
    """The root of the tree; `problem` says what and where, `hint` says what to do."""

    def __init__(self, problem: str, *, hint: str = "", code: str = "") -> None:
        self.problem, self.hint = clean(problem), clean(hint)
        self.code = code or type(self).__name__  # for programs and tests
        super().__init__("\nhint: ".join(filter(None, (self.problem, self.hint))))

    def __reduce__(self) -> tuple[Any, ...]:
        """Arrive in another process as it was, with all that it carries."""
        return _again, (type(self), *self.args), self.__dict__


def _again(kind: type[SimgapError], *arguments: Any) -> SimgapError:
    return kind.__new__(kind, *arguments)


class InvalidModel(SimgapError):
    """Numbers that do not describe an MDP, a class of MDPs or a prior."""


class RandomSimulator(InvalidModel):
    """A simulator whose step is not a function of state and action; `samples` helps."""


class InvalidArgument(SimgapError):
    """A horizon, tolerance, index or option outside its range."""


class InvalidFile(SimgapError):
    """A file that is missing, damaged, of another format or too large."""


class InvalidInstance(SimgapError):
    """An instance string with an unknown name, a bad parameter or a bad value."""


class NotCommunicating(SimgapError):
    """A model in which some state cannot be reached from another."""


class OutsideClass(SimgapError):
    """Something was observed that no model of the class with a positive prior allows.

    The real model is then not in U; `step` holds the observation if there is one.
    """

    def __init__(self, problem: str, *, hint: str = "", step: object = None) -> None:
        super().__init__(problem, hint=hint)
        self.step = step


class OutOfTime(SimgapError):
    """A time limit that passed before there was anything to tell."""


class OutOfMemory(SimgapError):
    """Work that would take more memory than it is allowed."""


class NotSolved(SimgapError):
    """A solver stopped before its tolerance; `result` holds the bounds reached."""

    def __init__(self, problem: str, *, hint: str = "", result: object = None) -> None:
        super().__init__(problem, hint=hint)
        self.result = result
