"""Muscle laws, articulated bodies, soft surfaces, pressure and integrators, as compiled kernels."""
