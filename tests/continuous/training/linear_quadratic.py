"""A linear world of hidden sign, quadratic in cost, with all optima in closed form.

    x' = keep x + sign u + push,    cost x'^2 + PRICE u^2,    x = 0 at first

The push of each step is drawn anew and seen before the action; x is not seen, but
follows from what was seen and done. The sign, 1 or -1, is hidden. Who wants to know it
watches a probe: a coin of 1 or -1 is seen at every step, and from step SILENT on what
is seen next is `echo` = sign * coin of the step before.

Informed optimum. For a known sign it is a linear-quadratic problem: if p x^2 + c is to
be paid from x on, then with m = keep x + push the best is u = -sign m (1 + p) /
(1 + p + PRICE), and one step earlier p and c become k keep^2 and c + k E push^2, where
k = (1 + p) PRICE / (1 + p + PRICE): the Riccati recursion.

Without memory the best is u = 0. What is seen at a step, o = (push, coin, echo), is
independent of the sign, and of every other push: echo is a fresh coin times the sign.
So for u_i = f(o_i), whatever f is and however it draws, E[sign u_i push_j] =
E[sign] E[u_i push_j] = 0 for all i and j. Of the cost of x = (sum of keep^n sign u) +
(sum of keep^n push) the product of both sums has mean 0; what is left of f is E(sum of
keep^n u)^2 + PRICE E u^2, which is least, 0, for u = 0.

Were x seen, this would be false. A policy that bets on one sign drives x away if it
lost the bet, and may turn round where abs(x) is large: the state is its memory.

With memory the best is u = 0 before the echo, by the same symmetry, and the informed
optimum from then on: the first echo times the remembered coin is the sign.

With `shown` = 1 the sign is seen. If keep is 0 too, nothing is worth remembering.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous import Box, JaxTask, Parameter

PRICE = 0.3  # of an action
HORIZON = 20
SILENT = 5  # steps without an echo
KEEP = 0.7
HIDDEN = "sign={-1,1}"  # what is drawn
NOT_KEPT = f"{HIDDEN} keep=0"
VISIBLE = f"{NOT_KEPT} shown=1"


def optimum(keep: float, blind: int) -> float:
    """Return the greatest mean return if the sign is known after `blind` steps.

    Blind steps do nothing: all of them without memory, none with the sign told.
    """
    p = c = 0.0
    for step in reversed(range(HORIZON)):
        k = 1.0 + p if step < blind else (1.0 + p) * PRICE / (1.0 + p + PRICE)
        p, c = k * keep**2, c + k
    return -c


def gains(keep: float, blind: int) -> list[float]:
    """Return g of the best action -sign g (keep x + push), step by step."""
    p, found = 0.0, []
    for step in reversed(range(HORIZON)):
        gain = 0.0 if step < blind else (1.0 + p) / (1.0 + p + PRICE)
        p = ((1.0 + p) * (1.0 - gain) ** 2 + PRICE * gain**2) * keep**2
        found.append(gain)
    return found[::-1]


def _start(theta: Any, key: Any) -> Any:
    return {"x": 0.0, "echo": 0.0, "steps": 0, **_drawn(key)}


def _drawn(key: Any) -> Any:
    import jax.numpy as jnp
    from jax import random

    push, side = random.normal(key, (2,))
    return {"push": push, "coin": jnp.where(side < 0.0, -1.0, 1.0)}


def _observe(state: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    sign = theta["shown"] * theta["sign"]
    return jnp.stack([state["push"], state["coin"], state["echo"], sign])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    x = theta["keep"] * state["x"] + theta["sign"] * action[0] + state["push"]
    steps = state["steps"] + 1
    echo = jnp.where(steps < SILENT, 0.0, theta["sign"] * state["coin"])
    after = {"x": x, "echo": echo, "steps": steps, **_drawn(key)}
    return after, -(x**2 + PRICE * action[0] ** 2), False


LINEAR_QUADRATIC = JaxTask(
    name="linear-quadratic",
    parameters=(
        Parameter("sign", 1.0),
        Parameter("keep", KEEP),
        Parameter("shown", 0.0),
    ),
    observation=Box(np.full(4, -np.inf), np.full(4, np.inf)),
    action=Box(np.full(1, -np.inf), np.full(1, np.inf)),
    horizon=HORIZON,
    start=_start,
    observe=_observe,
    step=_step,
)
