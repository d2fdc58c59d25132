from simgap.ledger.driver import (
    Driver as Driver,
    driver_of as driver_of,
    only_driver as only_driver,
)
from simgap.ledger.ledger import (
    LEDGER as LEDGER,
    Ledger as Ledger,
    Row as Row,
    forget_ledger as forget_ledger,
    has_ledger as has_ledger,
    holds_another as holds_another,
    key_of as key_of,
    opened_ledger as opened_ledger,
    read_ledger as read_ledger,
)
