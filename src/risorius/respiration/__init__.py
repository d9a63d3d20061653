"""Lungs, airway, pleural space and compartments."""
