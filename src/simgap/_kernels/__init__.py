"""Numba kernels: arrays in, arrays out; private."""
