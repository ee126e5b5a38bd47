"""Errors that stop a move. Run it again, or undo or abort it."""

from django.core.management import CommandError


class MoveRefused(CommandError):
    """The move cannot begin, or cannot do this now. The text says what to do first."""


class MoveStuck(CommandError):
    """A step cannot go on. Nothing is lost: the source still has all rows, and takes the writes."""


class MoveLost(CommandError):
    """Another process has taken this move over. This one must do nothing more."""
