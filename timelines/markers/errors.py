"""Errors of markers."""

from infra.api.errors import TidelineError


class MarkerConflict(TidelineError):
    """Another client has written this version or a later one. The remedy: read the marker again."""

    status = 409
    text = "Conflict during update, please try again"
