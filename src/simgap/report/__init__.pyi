from simgap.report.explorer import (
    write_explorer as write_explorer,
    write_folder as write_folder,
)
from simgap.report.figures import (
    Figures as Figures,
    figures_of as figures_of,
)
from simgap.report.folder import (
    read_folder as read_folder,
)
from simgap.report.parts.transfer_words import transfer_verdict as transfer_verdict
from simgap.report.report import draw_report as draw_report
