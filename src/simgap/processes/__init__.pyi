from simgap.processes.crew import Crew as Crew
from simgap.processes.inside import (
    Start as Start,
    TaskFailed as TaskFailed,
    Tell as Tell,
)
from simgap.processes.run import Ended as Ended
