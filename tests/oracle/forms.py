"""Loss forms of three coins, made when a test asks for them."""

from __future__ import annotations
