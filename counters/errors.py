"""Errors of the counting service."""


class KindCountedTwice(RuntimeError):
    """Two apps register different rows for one kind, so each recount would undo the other."""
