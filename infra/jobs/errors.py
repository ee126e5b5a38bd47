"""Why a run does not start, or does not go on."""

from django.core.management import CommandError

STOPPED_CODE = 2


class AlreadyRunning(CommandError):
    """Another copy of this job works on the same part. Wait for it, or stop it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=STOPPED_CODE)


class RunLost(RuntimeError):
    """The session that held this run's locks is gone, so that another copy may be running."""
