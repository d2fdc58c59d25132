"""Machines that run cells: the processes of this one, or a Ray cluster."""
