"""Pure functions on arrays: rotations, splines, closed surfaces, signals, small solvers."""
