"""Capital of gamblers who bet on numbers, compiled: logarithms of long products.

A logarithm is taken only where a product is about to leave the floats. A mean that is
doubted is at least 2^-46 of the range away from its end, so that no factor is above
2^47. A product that is too small for a float counts as zero: such capital is lost.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap.arrays import FloatArray

GROUP = 8  # factors between two looks at a product
LEAST, MOST = 2.0**-400, 2.0**400


@kernel
def greatest_capital(
    values: FloatArray,
    floors: FloatArray,
    bets: FloatArray,
    largest: float,
    mean: float,
) -> float:
    """Return the logarithm of the greatest product of the first 1 + bet (value - mean).

    A bet is at most the part `largest` of the one that a value at its floor ruins.
    """
    before, most = 0.0, -np.inf  # logarithms
    product, best = 1.0, 0.0
    for i in range(values.size):
        bet = min(bets[i], largest / (mean - floors[i]))
        product *= 1.0 + bet * (values[i] - mean)
        best = max(best, product)
        if not LEAST < product < MOST:
            most = max(most, before + np.log(best))
            before += np.log(product)
            product, best = 1.0, 0.0
    return max(most, before + np.log(best))  # type: ignore[no-any-return]


@kernel(allocates=True)
def capital_by_part(above: FloatArray, wide: float, parts: FloatArray) -> FloatArray:
    """Return log prod_i (1 - part) + part / wide above_i, one for each part."""
    capital, products, bets = np.zeros(parts.size), np.ones(parts.size), parts / wide
    for begin in range(0, above.size, GROUP):
        for i in range(begin, min(begin + GROUP, above.size)):
            for j in range(parts.size):
                products[j] *= (1.0 - parts[j]) + bets[j] * above[i]
        for j in range(parts.size):
            if not LEAST < products[j] < MOST:
                capital[j] += np.log(products[j])
                products[j] = 1.0
    return capital + np.log(products)
