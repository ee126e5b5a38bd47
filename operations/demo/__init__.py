"""Loads follow graphs from files, and the demo community of `make run`."""
