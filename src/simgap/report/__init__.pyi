from simgap.report.explorer import (
    write_explorer as write_explorer,
)
from simgap.report.explorer import (
    write_folder as write_folder,
)
from simgap.report.folder import (
    read_folder as read_folder,
)
from simgap.report.memory_words import (
    memory_words as memory_words,
)
from simgap.report.reading import (
    as_text as as_text,
)
from simgap.report.reading import (
    bounds_of as bounds_of,
)
from simgap.report.words import (
    at_least as at_least,
)
from simgap.report.words import (
    at_most as at_most,
)
from simgap.report.words import (
    between as between,
)
from simgap.report.words import (
    bracket as bracket,
)
from simgap.report.words import (
    counted as counted,
)
from simgap.report.words import (
    gap_bracket as gap_bracket,
)
from simgap.report.words import (
    gap_number as gap_number,
)
from simgap.report.words import (
    how_sure as how_sure,
)
from simgap.report.words import (
    number as number,
)
from simgap.report.words import (
    percent as percent,
)
from simgap.report.words import (
    shown as shown,
)
from simgap.report.words import (
    without_common_part as without_common_part,
)
