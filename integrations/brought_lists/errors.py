"""Why a file is not accepted."""

from infra.api.errors import TidelineError


class FileRefused(TidelineError):
    """The text says what is wrong with the file."""


class FileInWork(TidelineError):
    text = "The file before is not done yet"
