"""Parse, call app, print."""
