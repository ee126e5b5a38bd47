"""Why `make run` does not start; each message is for the person at the terminal."""

from pathlib import Path

from config.services.spawn import log_tail


class RunFailed(Exception):
    """Tideline could not be started."""


class PortUnusable(RunFailed):
    def __init__(self, port: str, reason: str) -> None:
        super().__init__(
            f"Port {port} cannot be used: {reason}. Choose another: make run PORT=8001"
        )


class PreparationFailed(RunFailed):
    def __init__(self) -> None:
        super().__init__("Tideline was not started: the step above failed.")


class ChildDidNotStart(RunFailed):
    def __init__(self, name: str, log: Path) -> None:
        super().__init__(f"{name} did not start. The end of {log}:\n{log_tail(log)}")
