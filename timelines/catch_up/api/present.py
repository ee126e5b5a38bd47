"""The JSON of a page of a catch-up."""

from collections.abc import Sequence

import orjson

from posts.ids import FIRST
from timelines.catch_up.order import split_groups
from timelines.catch_up.types import CatchUp, CatchUpPage
from timelines.types import Entry


def present_page(page: CatchUpPage) -> bytes:
    """An object; see api/schema.py. Cost: one status of each group is parsed for its account."""
    whole, statuses = page.whole, page.statuses
    together, groups = split_parts(whole)
    head = {
        "bound": whole.bound.text,
        "since_id": None if whole.bound.since == FIRST else whole.bound.since.public,
        "statuses_count": len(whole.entries),
        "accounts_count": len(groups),
        "left_out": _present_left_out(whole),
    }
    on_top = [statuses[entry.event] for entry in together if entry.event in statuses]
    shown = [body for group in groups if (body := _present_group(group, page))]
    parts = orjson.dumps(head)[:-1], b",".join(on_top), b",".join(shown)
    return b'%b,"reblogged_together":[%b],"groups":[%b]}' % parts


def split_parts(whole: CatchUp) -> tuple[Sequence[Entry], Sequence[Sequence[Entry]]]:
    """The entries on top, and the groups."""
    count = whole.together_count
    return whole.entries[:count], split_groups(whole.entries[count:])


def _present_left_out(whole: CatchUp) -> dict[str, str] | None:
    """The cursors of the home pages with what had no room."""
    if whole.left_below is None:
        return None
    return {"max_id": whole.left_below.public, "min_id": whole.bound.since.public}


def _present_group(group: Sequence[Entry], page: CatchUpPage) -> bytes | None:
    """None if this page has no status of the group."""
    events = [entry.event for entry in group]
    shown = [page.statuses[event] for event in events if event in page.statuses]
    if not shown:
        return None
    account = orjson.dumps(orjson.loads(shown[0])["account"])
    is_continued = b"true" if page.before in events else b"false"
    values = account, len(group), is_continued, b",".join(shown)
    return b'{"account":%b,"statuses_count":%d,"is_continued":%b,"statuses":[%b]}' % values
