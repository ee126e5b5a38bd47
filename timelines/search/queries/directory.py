"""The directory: accounts to look around in, by their last post or by their age."""

from enum import StrEnum
from typing import NamedTuple

from accounts.encode import is_discoverable
from accounts.queries.load import load_account_json
from accounts.queries.users import list_newest_account_ids
from infra.caching.questions import answer
from infra.clock import now_ms
from relations.queries.relationships import load_relationships
from relations.types import UNRELATED
from relations.visibility import Surface, may_show
from timelines.cache import ask_public_list

# The directory ends there: it is for looking around, and a later page costs as much as all before.
MOST_LISTED = 400


class DirectoryOrder(StrEnum):
    """ACTIVE: by the last public post, then those without one. NEW: by the sign-up."""

    ACTIVE = "active"
    NEW = "new"


class DirectoryPage(NamedTuple):
    """The part of the directory that is asked for. `viewer_id`: None without a user."""

    order: DirectoryOrder
    offset: int
    limit: int
    viewer_id: int | None


def list_directory(page: DirectoryPage) -> list[bytes]:
    """Account entities. A page has fewer than `limit` if the viewer may not see some of its places.

    Only discoverable accounts, without those that are limited, blocked in either direction, or
    muted. Cost when warm: two round trips; one query for NEW, and where few accounts have posted.
    """
    places = _list_places(page)
    known = load_relationships(page.viewer_id, places) if page.viewer_id and places else {}
    at_ms = now_ms()
    accounts = load_account_json(places, page.viewer_id)
    return [
        account
        for account_id, account in accounts.items()
        if is_discoverable(account)
        and may_show(Surface.PUBLIC, known.get(account_id, UNRELATED), at_ms, account)
    ]


def _list_places(page: DirectoryPage) -> list[int]:
    """The accounts of the page, before rules. The public timeline has the authors of ACTIVE."""
    end = min(page.offset + page.limit, MOST_LISTED)
    if page.order is DirectoryOrder.NEW:
        return list_newest_account_ids(end)[page.offset :]
    authors = dict.fromkeys(post_id.author_id for post_id in answer(ask_public_list()).listed)
    if len(authors) < end:
        authors |= dict.fromkeys(list_newest_account_ids(end))
    return list(authors)[page.offset : end]
