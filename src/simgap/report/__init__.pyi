from simgap.report.explorer import (
    write_explorer as write_explorer,
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
    bounds_of as bounds_of,
)
from simgap.report.words import (
    at_least as at_least,
    at_most as at_most,
    between as between,
    bracket as bracket,
    counted as counted,
    gap_bracket as gap_bracket,
    gap_number as gap_number,
    how_sure as how_sure,
    number as number,
    percent as percent,
    shown as shown,
    without_common_part as without_common_part,
)
