"""Errors that end a run, or prevent its start."""

from django.core.management import CommandError

STOPPED_CODE = 2


class AlreadyRunning(CommandError):
    """Another run of this job works on the same part. Wait for that run, or stop it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, returncode=STOPPED_CODE)


class RunNotRecorded(CommandError):
    """The default database does not answer: it has the locks and the record of all runs."""


class RunLost(RuntimeError):
    """The session that held the locks of this run has ended, so another run may have started."""
