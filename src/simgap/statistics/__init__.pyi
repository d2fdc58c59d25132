from simgap.statistics.betting import (
    Score as Score,
    betting_interval as betting_interval,
    mixture_interval as mixture_interval,
)
from simgap.statistics.mean import (
    RARE as RARE,
    Part as Part,
    estimated_mean as estimated_mean,
    guaranteed_mean as guaranteed_mean,
    rare_events as rare_events,
)
from simgap.statistics.rate import (
    estimated_rate as estimated_rate,
)
