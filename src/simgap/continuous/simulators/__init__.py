"""Simulators with hidden parameters, behind one interface."""
