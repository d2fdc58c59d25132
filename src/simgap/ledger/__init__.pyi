from simgap.ledger.book import Row as Row
from simgap.ledger.driver import (
    Driver as Driver,
    driver_of as driver_of,
    only_driver as only_driver,
)
from simgap.ledger.keys import key_of as key_of
from simgap.ledger.ledger import (
    Ledger as Ledger,
    forget_ledger as forget_ledger,
    has_ledger as has_ledger,
    holds_another as holds_another,
    opened_ledger as opened_ledger,
    read_ledger as read_ledger,
)
from simgap.ledger.salvage import salvaged as salvaged
from simgap.ledger.seal import LEDGER as LEDGER
