"""Errors of promotions."""

from infra.api.errors import NotFound


class CampaignNotFound(NotFound):
    """No campaign has this id, or it shows nothing to the viewer."""
