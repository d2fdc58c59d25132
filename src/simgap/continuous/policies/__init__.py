"""Policies that people bring, behind one interface."""
