"""Learners that do not know the class: UCRL2, UCRL2B, PSRL."""
