"""The torso of a subject."""
