"""Worker processes that may die, take too long or take too much."""

from simgap.processes.crew import Crew, Ended
from simgap.processes.inside import Start, TaskFailed, Tell

__all__ = [
    "Crew",
    "Ended",
    "Start",
    "TaskFailed",
    "Tell",
]
