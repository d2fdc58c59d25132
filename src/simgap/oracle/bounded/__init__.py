"""Brackets that close with time: mixtures of pairs and points below, graphs above."""

from simgap.oracle.bounded.planner import (
    solve_bounded,
    solve_grid,
    without_planning,
)

__all__ = ["solve_bounded", "solve_grid", "without_planning"]
