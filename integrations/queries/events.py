"""Reads the change feed of the whole site from a position on.

The ids that the product of the operator has for its people, next to those of their accounts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from heapq import merge
from itertools import islice
from typing import Any

from cachebox import LRUCache

from accounts.identities.queries import load_names
from accounts.types import ServiceObject
from infra.changes.feed import (
    OLDEST,
    FeedPage,
    FeedPosition,
    position_before,
    position_now,
    read_feed,
)
from infra.deadline import is_half_over
from infra.sharding.errors import NO_ANSWER
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.scatter import noting_missing, scatter, scatter_available
from infra.sharding.shards import all_aliases
from integrations.events import describe_changes
from integrations.positions import decode_position
from integrations.types import Event, EventPage, SitePosition

# By the name of an account's id, the name of its external id, and that of what it is if it is an
# object: an external id alone is one of a person.
NAMES = {
    "account_id": ("external_id", "object"),
    "target_id": ("target_external_id", "target_object"),
}
# Parts of data that are lists of such pairs.
_LISTS = ("follows", "posts")
# A binding never changes. 200 bytes each.
_known: LRUCache[int, str | ServiceObject] = LRUCache(100_000)


def add_external_ids(data: Sequence[dict[str, Any]]) -> None:
    """Adds those of the accounts that have one. One query by index, if some are not remembered.

    Raises: OperationalError.
    """
    parts = [part for each in data for part in _parts(each)]
    ids = {int(part[name]) for part in parts for name in NAMES if name in part}
    known = _load(ids)
    for part in parts:
        for name, (external, described) in NAMES.items():
            match known.get(int(part[name])) if name in part else None:
                case str(subject):
                    part[external] = subject
                case ServiceObject(kind=kind, external_id=subject):
                    part[described] = {"kind": kind, "external_id": subject}


def _parts(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield data
    for name in _LISTS:
        yield from data.get(name, ())


def _load(account_ids: Iterable[int]) -> Mapping[int, str | ServiceObject]:
    wanted = set(account_ids)
    known = {i: subject for i in wanted if (subject := _known.get(i)) is not None}
    if unknown := wanted - known.keys():
        new = load_names(unknown)
        _known.update(new)
        known |= new
    return known


# Changes of one part of a long page. Between two parts others have their turn.
PART = 500
OLDEST_POSITION = SitePosition({})


def site_position_now() -> SitePosition:
    """Behind everything that has been delivered. A query for each database, at once.

    Raises: OperationalError if one does not answer: a reader must not miss what it delivers.
    """
    return SitePosition(scatter({alias: partial(position_now, alias) for alias in all_aliases()}))


def site_position_before(moment: datetime) -> SitePosition:
    """Before all that was delivered since this moment."""
    return SitePosition(dict.fromkeys(all_aliases(), position_before(moment)))


def first_position(text: str | None) -> SitePosition:
    """Of this text: a position, `oldest`, or `now`, as without one. Raises: PositionInvalid."""
    if text is None or text == "now":
        return site_position_now()
    return OLDEST_POSITION if text == "oldest" else decode_position(text)


def read_events(after: SitePosition, limit: int) -> EventPage:
    """The next events, of at most `limit` changes: those of a database are in their order, and all
    by the time when they were delivered.

    A database that does not answer delays its own events only. Raises: PositionTooOld,
    PositionLost; OperationalError if no database answers.
    Cost: a query for each database, at once; two for each that has relations or marks, and at most
    one on the default database.
    """
    before = {alias: after.by_alias.get(alias, OLDEST) for alias in all_aliases()}
    began = SitePosition({**before})
    calls = {alias: partial(read_feed, alias, each, limit) for alias, each in before.items()}
    with noting_missing() as missing:
        pages = scatter_available(calls)
    places = {place: number for number, place in enumerate(islice(_in_turn(pages), limit))}
    taken = Counter(alias for alias, _ in places)
    events: list[Event] = []
    for alias, page in pages.items():
        part = _cut(page, taken[alias])
        try:
            events += describe_changes(alias, part.changes)
        except NO_ANSWER:
            missing.add(alias)
        else:
            before[alias] = part.position if part.changes or part is page else before[alias]
    try:
        add_external_ids([event.data for event in events])
    except NO_ANSWER:
        return EventPage([], began, sorted(missing | taken.keys()), has_more=False)
    events.sort(key=lambda event: places[event.alias, event.position])
    has_more = any(
        alias not in missing and (len(page.changes) == limit or len(page.changes) > taken[alias])
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


def _in_turn(pages: Mapping[str, FeedPage]) -> Iterator[tuple[str, FeedPosition]]:
    """Each change by its database and its position, by the time of its delivery.

    So what an account did before it moved comes before what it does on its new shard, and a
    database that is far behind comes first. Of one time the default database is the first: it tells
    that accounts were created.
    """
    for _, _, alias, position in merge(*(_dated(alias, page) for alias, page in pages.items())):
        yield alias, position


def _dated(alias: str, page: FeedPage) -> Iterator[tuple[datetime, bool, str, FeedPosition]]:
    """The order of a database is kept, also where its clock went back."""
    at = OLDEST.row_at
    for change in page.changes:
        at = max(at, change.position.row_at)
        yield at, alias != GLOBAL_ALIAS, alias, change.position


def _cut(page: FeedPage, most: int) -> FeedPage:
    if len(page.changes) <= most:
        return page
    changes = page.changes[:most]
    return FeedPage(changes, changes[-1].position if changes else page.position)
