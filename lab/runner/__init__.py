"""Starts a whole Tideline. `make run` also has progress lines, preparation and restarts here."""
