"""Options that belong to another kind of log or model."""

from __future__ import annotations

from collections.abc import Mapping

from simgap.errors import InvalidArgument


def refuse_options(
    given: Mapping[str, object], way_out: str, verb: str = "adapt"
) -> None:
    """Raise if an option is given that this kind of question does not have."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidArgument(
                f"{name} does not go with this kind of {verb}", hint=way_out
            )
