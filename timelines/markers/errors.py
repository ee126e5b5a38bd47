"""What can be wrong with moving a marker."""

from infra.api.errors import TidelineError


class MarkerConflict(TidelineError):
    """Another client has written this version, or a later one: read, then decide anew."""

    status = 409
    text = "Conflict during update, please try again"
