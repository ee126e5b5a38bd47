"""Errors of timelines."""

from infra.api.errors import InvalidCursor


class PublicEnded(InvalidCursor):
    """The index has no posts of so long ago."""

    text = "The public timeline does not go back so far"
