"""Motion from sound and from markers: targets, misfits, optimisers, the tracking controller."""
