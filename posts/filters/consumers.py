"""Consumers of changed filters. Inline: the owner sees the effect at the next read."""

from collections.abc import Sequence

from infra.changes.registry import Delivery, consumes
from posts.cache.viewer_state import refresh_viewer_states
from posts.filters.changes import FiltersEdited


@consumes(FiltersEdited, inline=True)
def refresh_filters(alias: str, deliveries: Sequence[Delivery[FiltersEdited]]) -> None:
    """Writes the filters to the cached viewer states of their owners."""
    refresh_viewer_states(delivery.owner_id for delivery in deliveries)
