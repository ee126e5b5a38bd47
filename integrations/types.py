"""The events of the change feed and what they are read with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from infra.changes.feed import FeedPosition


class Event(NamedTuple):
    """What happened. `id`: the same each time the event is read. `data`: as JSON shows it."""

    id: str
    type: str
    happened_at: datetime
    data: Mapping[str, Any]


class SitePosition(NamedTuple):
    """Up to where a reader has read each database, by its alias.

    A database that is not named is read from the oldest change on: it is a new shard.
    """

    by_alias: Mapping[str, FeedPosition]


class EventPage(NamedTuple):
    """`position`: behind the events. `missing`: databases that did not answer; the position has not
    passed their events. `has_more`: there are more already."""

    events: Sequence[Event]
    position: SitePosition
    missing: Sequence[str]
    has_more: bool
