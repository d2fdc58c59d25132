"""What all tests need."""

from __future__ import annotations

import signal

# A shell that puts a command in the background lets it ignore interrupts, and so would
# every process of the tests that is to be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
