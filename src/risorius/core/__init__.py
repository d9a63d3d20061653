"""What all rooms share: specs, the frozen model, states, records, errors, units, the hardened XML reader."""
