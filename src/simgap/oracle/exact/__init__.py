"""The exact oracle: every belief an episode can come to, merged on what was seen."""

from simgap.oracle.exact.solver import (
    count_nodes,
    exact_rounding,
    looks_hopeless,
    solve_exact,
)

__all__ = ["count_nodes", "exact_rounding", "looks_hopeless", "solve_exact"]
