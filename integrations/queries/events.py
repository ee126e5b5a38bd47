"""Reads the change feed of the whole site from a position on."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from infra.changes.feed import (
    OLDEST,
    FeedPage,
    FeedPosition,
    position_before,
    position_now,
    read_feed,
)
from infra.deadline import is_half_over
from infra.missing_databases import noting_missing
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import scatter, scatter_available
from infra.sharding.shards import all_aliases
from integrations.events import describe_changes
from integrations.positions import decode_position
from integrations.types import Event, EventPage, SitePosition

# Changes of one part of a long page. Between two parts others have their turn.
PART = 500
OLDEST_POSITION = SitePosition({})
_UP_TO_DATE = timedelta(minutes=1)


def site_position_now() -> SitePosition:
    """Behind everything that has been delivered. A query for each database, at once.

    Raises: OperationalError if one does not answer: a reader must not miss what it delivers.
    """
    return SitePosition(scatter({alias: partial(position_now, alias) for alias in all_aliases()}))


def site_position_before(moment: datetime) -> SitePosition:
    """Before all that was delivered since this moment. A query for each database, at once.

    Raises: OperationalError if one does not answer.
    """
    return SitePosition(
        scatter({alias: partial(position_before, alias, moment) for alias in all_aliases()})
    )


def first_position(text: str | None) -> SitePosition:
    """Of this text: a position, `oldest`, or `now`, as without one. Raises: PositionInvalid."""
    if text is None or text == "now":
        return site_position_now()
    return OLDEST_POSITION if text == "oldest" else decode_position(text)


def read_events(after: SitePosition, limit: int) -> EventPage:
    """The next events, of at most `limit` changes or one of each database. The events of an account
    are in their order.

    A database that does not answer delays its own events only. Raises: PositionTooOld,
    PositionLost; OperationalError if no database answers.
    Cost: a query for each database, at once; two for each that has relations or marks.
    """
    before = {alias: after.by_alias.get(alias, OLDEST) for alias in all_aliases()}
    calls = {alias: partial(read_feed, alias, each, limit) for alias, each in before.items()}
    with noting_missing() as missing:
        pages = scatter_available(calls)
    taken = _share(pages, limit)
    events: list[Event] = []
    for alias in _in_turn({alias: before[alias] for alias in taken}):
        page = taken[alias]
        try:
            events += describe_changes(alias, page.changes)
        except NO_ANSWER:
            missing.add(alias)
        else:
            before[alias] = page.position
    has_more = any(
        alias not in missing and (len(page.changes) == limit or taken[alias] is not page)
        for alias, page in pages.items()
    )
    return EventPage(events, SitePosition(before), sorted(missing), has_more)


def read_long_page(after: SitePosition, limit: int) -> EventPage:
    """As `read_events`, for more changes: part by part, so that others have their turn in between.

    It ends early when half of the time of the request is over. Raises and costs as `read_events`,
    for each PART.
    """
    page, left = read_events(after, min(limit, PART)), limit - PART
    events = list(page.events)
    while left > 0 and page.has_more and not page.missing and not is_half_over():
        page = read_events(page.position, min(left, PART))
        events += page.events
        left -= PART
    return page._replace(events=events)


def _in_turn(before: Mapping[str, FeedPosition]) -> list[str]:
    """What is furthest behind comes first: who does only a part of each page starves none.

    Of those that are up to date the default database does: it tells that accounts were created.
    """
    up_to_date = (
        max((each.complete_at for each in before.values()), default=OLDEST.complete_at)
        - _UP_TO_DATE
    )
    return sorted(
        before,
        key=lambda alias: (min(before[alias].complete_at, up_to_date), alias != GLOBAL_ALIAS),
    )


def _share(pages: Mapping[str, FeedPage], limit: int) -> dict[str, FeedPage]:
    """Each database's part of `limit` changes, at least one, so that none waits for another. What
    one does not need the others get."""
    taken = {}
    for number, alias in enumerate(sorted(pages, key=lambda alias: len(pages[alias].changes))):
        part = max(1, limit // (len(pages) - number))
        taken[alias] = _cut(pages[alias], part)
        limit -= len(taken[alias].changes)
    return taken


def _cut(page: FeedPage, most: int) -> FeedPage:
    if len(page.changes) <= most:
        return page
    return FeedPage(page.changes[:most], page.changes[most - 1].position)
