"""Errors of conversations."""

from infra.api.errors import NotFound


class ConversationNotFound(NotFound):
    pass
