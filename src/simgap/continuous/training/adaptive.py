"""What is drawn while a policy is trained: `uniform`, `adr`, `doraemon` or `gap`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.training.adr import Adr
from simgap.continuous.training.beforehand import Needed, Reference, sides_of
from simgap.continuous.training.doraemon import Doraemon
from simgap.continuous.training.gap_aware import GapAware, cells_of
from simgap.continuous.training.samplers import Nu
from simgap.errors import InvalidArgument
from simgap.text import shown, suggestion


@final
@dataclass(frozen=True, slots=True)
class AsGiven:
    """The randomization itself."""

    @property
    def needs(self) -> Needed:
        """Return that nothing is trained before."""
        return Needed.NOTHING

    def start(
        self, randomization: BoundRandomization, reference: Reference | None = None
    ) -> Nu:
        """Return the sampler of a training."""
        return Nu(randomization)


Sampling = AsGiven | Adr | Doraemon | GapAware

UNIFORM = "uniform"
SAMPLINGS: dict[str, Sampling] = {
    UNIFORM: AsGiven(),
    "adr": Adr(),
    "doraemon": Doraemon(),
    "gap": GapAware(),
}


def parse_sampling(text: str) -> Sampling:
    """Return what a text names."""
    if (found := SAMPLINGS.get(text.strip())) is not None:
        return found
    raise InvalidArgument(
        f"there is no way to draw called {shown(text)!r}",
        hint=suggestion(text.strip(), SAMPLINGS)
        or "it is uniform (the randomization itself), adr, doraemon, or gap",
        code="no-such-sampling",
    )


def check_adaptable(sampling: Sampling, randomization: BoundRandomization) -> None:
    """Refuse a randomization that leaves nothing to adapt, before anything is run."""
    if sampling.needs is Needed.NOMINAL:
        sides_of(randomization)
    elif sampling.needs is Needed.INFORMED:
        cells_of(randomization)
