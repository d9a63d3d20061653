"""Search without derivatives: a problem, an algorithm, an executor; any objective function."""
