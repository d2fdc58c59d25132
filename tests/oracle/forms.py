"""Loss forms of three coins, made when a test asks for them."""

from __future__ import annotations

from functools import cache

from simgap.oracle.loss_form import LossForm, loss_form
from tests.oracle.test_large_class import coins


@cache
def coin_form() -> LossForm:
    """Return that of ten steps."""
    return loss_form(coins(members=3), horizon=10)


@cache
def discounted_form() -> LossForm:
    """Return that of a discount of 3/4."""
    return loss_form(coins(members=3), discount=0.75)
