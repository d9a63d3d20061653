"""Muscles under any skin: grown from two curves, contracted, and felt by the points above them (paper 001)."""
