"""Real simulators: randomized, brought policies, measured gaps (Section 3.2).

A question needs half of these modules; a name's module is loaded at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
