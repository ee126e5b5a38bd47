"""The parts of `make run`: progress lines, preparation, child processes, restarts."""
