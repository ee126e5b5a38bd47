"""Errors of notifications."""

from infra.api.errors import NotFound


class NotificationNotFound(NotFound):
    """The caller has no such notification, or may not see it now."""
