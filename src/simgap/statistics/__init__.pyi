from simgap.statistics.betting import (
    Score as Score,
)
from simgap.statistics.betting import (
    betting_interval as betting_interval,
)
from simgap.statistics.betting import (
    mixture_interval as mixture_interval,
)
from simgap.statistics.estimate import (
    Estimate as Estimate,
)
from simgap.statistics.estimate import (
    Label as Label,
)
from simgap.statistics.estimate import (
    common_label as common_label,
)
from simgap.statistics.estimate import (
    greatest_of as greatest_of,
)
from simgap.statistics.mean import (
    THIN as THIN,
)
from simgap.statistics.mean import (
    Part as Part,
)
from simgap.statistics.mean import (
    estimated_mean as estimated_mean,
)
from simgap.statistics.rate import (
    estimated_rate as estimated_rate,
)
