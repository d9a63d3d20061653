"""Curves, control files, muscle groups and behaviours."""
