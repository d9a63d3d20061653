"""Bindings, muscles under a skin, falloffs and deformation."""
