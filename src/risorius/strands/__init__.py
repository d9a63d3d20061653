"""Spline strands, their constraints, the KKT step and the activation controller."""
