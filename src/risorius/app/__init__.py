"""What users call as one thing, from Python or from the command line."""
