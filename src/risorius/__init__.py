"""Risorius: anatomy that moves characters. Rooms and their rules are in docs/architecture.md."""

__version__ = "0.1.0"
