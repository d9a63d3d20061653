"""What a sound holds: its envelope, calls and bouts, what kind of sound it is, and the lung pressure it stands for."""
