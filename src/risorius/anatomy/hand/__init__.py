"""Hand and forearm: bones, joints, musculotendon units."""
