"""Copies inside kernels are copies."""

from __future__ import annotations

import numpy as np

from simgap._kernels.solving.copying import copy_table, copy_vector


def test_a_vector_is_copied() -> None:
    values, into = np.array([1.0, -2.0, 3.0]), np.zeros(3)
    copy_vector(values, into)
    assert np.array_equal(into, values)
    values[0] = 7.0
    assert into[0] == 1.0  # a copy, not the same array


def test_a_table_is_copied() -> None:
    values, into = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    copy_table(values, into)
    assert np.array_equal(into, values)
