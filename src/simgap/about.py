"""Which simgap this is."""

from importlib.metadata import version

__version__ = version("simgap")
