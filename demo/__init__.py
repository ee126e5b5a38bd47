"""The graph loader and the demo community that `make run` starts with."""
