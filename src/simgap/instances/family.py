"""A family of models: one for each point of a product grid, named by what varies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simgap.mdp import SimulatorClass, TabularMDP, class_over_grid


def family(
    instantiate: Callable[[Mapping[str, float]], TabularMDP],
    axes: Mapping[str, tuple[float, ...]],
) -> SimulatorClass:
    """Return the class over a grid; parameters with one value become a note.

    So `riverswim?success=0.2,0.5` has models `success=0.2` and `success=0.5`, and the
    fixed `down` is no parameter of the class. If nothing varies, the first one names
    the only model.
    """
    first = next(iter(axes))
    varying = {name: points for name, points in axes.items() if len(points) > 1}
    varying = varying or {first: axes[first]}
    fixed = {name: points[0] for name, points in axes.items() if name not in varying}

    def at(theta: Mapping[str, float]) -> TabularMDP:
        return instantiate({**fixed, **theta})

    notes = tuple(
        f"{name} = {value:.9g} in all models" for name, value in fixed.items()
    )
    return class_over_grid(at, varying, notes=notes)
