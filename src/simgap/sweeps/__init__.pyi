from simgap.sweeps.cost import dry_run as dry_run
from simgap.sweeps.engine import Engine as Engine, LocalEngine as LocalEngine
from simgap.sweeps.plan import Plan as Plan
from simgap.sweeps.questions import QUESTIONS as QUESTIONS
from simgap.sweeps.ray_engine import RayEngine as RayEngine
from simgap.sweeps.reading import read_plan as read_plan
from simgap.sweeps.state import export_table as export_table, status as status
from simgap.sweeps.sweep import resume as resume, retry as retry, sweep as sweep
