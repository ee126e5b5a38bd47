"""Starts a whole Tideline. `make run` also has progress lines, preparation and restarts here.

honcho with a Procfile was tried. It has no back-off and no start screen, does not find a port in
use before anything starts, and its programs survive a `kill -9` of the runner.
"""
