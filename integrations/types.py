"""The events of the change feed and what they are read with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import models

from infra.changes.feed import FeedPosition


class WebhookState(models.IntegerChoices):
    """PARKED: it failed for too long, and an operator must resume it."""

    ACTIVE = 0
    PAUSED = 1
    PARKED = 2


class Event(NamedTuple):
    """What happened. `id`: the same each time the event is read. `data`: as JSON shows it.

    `position`: behind it, on the database `alias`.
    """

    id: str
    type: str
    happened_at: datetime
    data: dict[str, Any]
    alias: str
    position: FeedPosition


class SitePosition(NamedTuple):
    """Up to where a reader has read each database, by its alias.

    A database that is not named is read from the oldest change on: it is a new shard.
    """

    by_alias: Mapping[str, FeedPosition]

    def behind(self, event: Event) -> "SitePosition":
        """The position of a reader who has read this event too."""
        return SitePosition({**self.by_alias, event.alias: event.position})


class EventPage(NamedTuple):
    """`position`: behind the events. `missing`: databases that did not answer; the position has not
    passed their events. `has_more`: there are more already."""

    events: Sequence[Event]
    position: SitePosition
    missing: Sequence[str]
    has_more: bool
