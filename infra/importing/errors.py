"""Why a line is not imported, and why a file cannot be read."""

from django.core.management.base import CommandError


class LineRefused(ValueError):
    """The line is not imported. Its text is the reason that the report gives."""


class LineSkipped(Exception):
    """Tideline has no place for what the line says. The report counts it by name."""


class FileUnreadable(CommandError):
    """The whole file cannot be read in this format."""
