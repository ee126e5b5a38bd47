"""Why `make run` does not start. Each message is for the person at the terminal."""

from collections.abc import Sequence
from pathlib import Path

from lab.runner.terminal import clean_command
from lab.services.spawn import log_tail


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


class DataOfOtherVersion(RunFailed):
    def __init__(self, alias: str, migrations: Sequence[str]) -> None:
        super().__init__(
            f"The data was written by another version of Tideline, and this version cannot read "
            f"it: the database {alias} records the migration {migrations[0]}, which this version "
            f"does not have. Nothing was changed. Delete the data with `{clean_command()}`, or "
            "keep it and start with other data: DATA_DIR=.data-new make run"
        )
