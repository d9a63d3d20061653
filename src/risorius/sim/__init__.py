"""Where the physics rooms meet: one step of the whole, a run and its record."""
