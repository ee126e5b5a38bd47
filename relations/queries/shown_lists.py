"""Pages of edge lists as a viewer may see them: a member that is not shown is as good as absent.

The cursors name only members that are shown, or no member. `relations/queries/edge_lists.py` reads
the members.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accounts.queries.load import ask_accounts, load_account_json
from infra.api.pages import Page, Window
from infra.caching.questions import answer, ask_both
from infra.clock import now_ms
from relations.queries.edge_lists import (
    BeforeLoad,
    EdgeList,
    ListReads,
    decode_cursor,
    encode_cursor,
    reads_of,
)
from relations.queries.relationships import ask_relationships
from relations.types import ListedAccount
from relations.visibility import Surface, hidden_among

# A page is at most this many reads. A viewer who may see very few members gets a short page.
MOST_BATCHES = 8
# The least number of members of each read but the first.
NEXT_BATCH = 100
# The JSON by account; accounts that are not shown are missing.
Show = Callable[[Sequence[int]], Mapping[int, bytes]]


class ShownMember(NamedTuple):
    """A member of a list and its JSON."""

    listed: ListedAccount
    body: bytes


def list_shown(
    edge_list: EdgeList,
    owner_id: int,
    window: Window,
    show: Show,
    before_load: BeforeLoad = lambda: None,
) -> Page[bytes]:
    """As `cut_shown`, of the reads of a list. Raises: what `list_page` raises."""
    return cut_shown(window, reads_of(edge_list, owner_id, before_load), show)


def cut_shown(window: Window, reads: ListReads, show: Show) -> Page[bytes]:
    """A full page, newest first, unless the list ends or MOST_BATCHES did not fill the page.

    `show` is called once for each read, also for an empty list. Raises: InvalidCursor. Cost: one
    read and one `show`; more of both only if members of the first read are not shown.
    """
    after = decode_cursor(window.min_id)
    if after is not None:
        return _page_up(window, after, reads, show)
    return _page_down(window, reads, show)


def load_for_others(
    account_ids: Sequence[int], viewer_id: int | None, kept: int
) -> dict[int, bytes]:
    """Accounts on a list that is not the viewer's own: without blocks in either direction, and
    without accounts that the viewer mutes, but for the one to be `kept`.

    Cost: as `load_account_json`; relationships come in the same round trip.
    """
    if viewer_id is None:
        return load_account_json(account_ids)
    both = ask_both(ask_accounts(account_ids), ask_relationships(viewer_id, account_ids))
    accounts, relationships = answer(both)
    hidden = hidden_among(Surface.LISTED, relationships.by_account, now_ms()) - {kept}
    return {i: body for i, body in accounts.items() if i not in hidden}


def _page_down(window: Window, reads: ListReads, show: Show) -> Page[bytes]:
    below, above = decode_cursor(window.max_id), decode_cursor(window.since_id)
    shown: list[ShownMember] = []
    size = window.limit
    for _ in range(MOST_BATCHES):
        batch = reads.newest(below, size + 1)
        inside = [member for member in batch if above is None or member > above]
        members, has_more = inside[:size], len(inside) > size
        shown += _find_shown(members, show)
        if len(shown) >= window.limit or not has_more:
            has_more = has_more or len(shown) > window.limit
            return _page(shown[: window.limit], has_more)
        below, size = members[-1], max(size, NEXT_BATCH)
    return _page(shown, has_older=False)._replace(older=_cursor_at(below, ms=1))


def _page_up(window: Window, after: ListedAccount, reads: ListReads, show: Show) -> Page[bytes]:
    below = decode_cursor(window.max_id)
    shown: list[ShownMember] = []
    size = window.limit
    for _ in range(MOST_BATCHES):
        members = reads.above(after, size)
        inside = [member for member in members if below is None or member < below]
        shown = [*_find_shown(inside, show), *shown]
        if len(shown) >= window.limit or len(inside) < size:
            return _page(shown[-window.limit :], has_older=True)
        after, size = members[0], max(size, NEXT_BATCH)
    return _page(shown, has_older=True)._replace(newer=_cursor_at(after, ms=0))


def _find_shown(members: Sequence[ListedAccount], show: Show) -> list[ShownMember]:
    accounts = show([member.account_id for member in members])
    shown = ((member, accounts.get(member.account_id)) for member in members)
    return [ShownMember(member, body) for member, body in shown if body is not None]


def _page(shown: Sequence[ShownMember], has_older: bool) -> Page[bytes]:
    if not shown:
        return Page([], None, None)
    older = encode_cursor(shown[-1].listed) if has_older else None
    return Page([member.body for member in shown], older, encode_cursor(shown[0].listed))


def _cursor_at(examined: ListedAccount | None, ms: int) -> str | None:
    """A cursor with the time of the last examined member only: that member may be hidden. The next
    page reads the members of that time again; they must be fewer than a page examines.
    """
    return encode_cursor(ListedAccount(examined.since_ms + ms, 0)) if examined else None
