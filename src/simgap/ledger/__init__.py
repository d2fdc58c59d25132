"""What long work has finished, on disk: kept for good, one driver at a time."""

from simgap.ledger.driver import Driver, driver_of, only_driver
from simgap.ledger.ledger import (
    LEDGER,
    Ledger,
    Row,
    forget_ledger,
    has_ledger,
    holds_another,
    key_of,
    opened_ledger,
    read_ledger,
)

__all__ = [
    "LEDGER",
    "Driver",
    "Ledger",
    "Row",
    "driver_of",
    "forget_ledger",
    "has_ledger",
    "holds_another",
    "key_of",
    "only_driver",
    "opened_ledger",
    "read_ledger",
]
