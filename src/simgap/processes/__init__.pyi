from simgap.processes.crew import Crew as Crew, Ended as Ended
from simgap.processes.inside import (
    Start as Start,
    TaskFailed as TaskFailed,
    Tell as Tell,
)
