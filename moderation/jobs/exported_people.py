"""The lists of accounts in an archive, with the columns of Mastodon's CSV files."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from accounts.api.instance import domain
from accounts.queries.profiles import load_profiles
from infra.api.pages import Window
from relations.lists.queries.lists import list_account_lists, member_rows
from relations.queries.edge_lists import (
    BLOCKS_LIST,
    OWN_ENDORSED_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_LIST,
    SPECIAL_LIST,
    EdgeList,
    list_page,
)
from relations.queries.edge_rows import muted_at
from relations.queries.relationships import load_relationships
from relations.types import EdgeFlag, Relationship

PAGE = 80
Line = list[str]
_ADDRESS = "Account address"


class _Columns(NamedTuple):
    """`heading`: the first line; empty for a file without one. `read`: what follows the address."""

    heading: Line
    read: Callable[[Relationship], Line] = lambda _: []


def _read_follow(relationship: Relationship) -> Line:
    shows = not relationship.flags & EdgeFlag.HIDES_REPOSTS
    notifies = bool(relationship.flags & EdgeFlag.NOTIFIES)
    return [_word(shows), _word(notifies), ", ".join(relationship.languages)]


def _read_mute(relationship: Relationship) -> Line:
    return [_word(relationship.mutes_notices)]


_ADDRESSES = _Columns([_ADDRESS])
_FOLLOWS = _Columns([_ADDRESS, "Show boosts", "Notify on new posts", "Languages"], _read_follow)
_MUTES = _Columns([_ADDRESS, "Hide notifications"], _read_mute)


def iter_files_of_people(account_id: int, now_ms: int) -> Iterator[tuple[str, Iterator[Line]]]:
    """The name and the lines of each file, which are read while the file is written."""
    files = {
        "following_accounts.csv": (OWN_FOLLOWING_LIST, _FOLLOWS),
        "quiet_following_accounts.csv": (QUIET_LIST, _FOLLOWS),
        "special_following_accounts.csv": (SPECIAL_LIST, _FOLLOWS),
        "endorsed_accounts.csv": (OWN_ENDORSED_LIST, _ADDRESSES),
        "follower_accounts.csv": (OWN_FOLLOWERS_LIST, _ADDRESSES),
        "muted_accounts.csv": (EdgeList(muted_at(now_ms)), _MUTES),
        # Mastodon writes this one without a heading.
        "blocked_accounts.csv": (BLOCKS_LIST, _Columns([])),
    }
    for name, (edge_list, columns) in files.items():
        yield name, _iter_lines(account_id, edge_list, columns)
    yield "lists.csv", _iter_members(account_id)


def _iter_lines(account_id: int, edge_list: EdgeList, columns: _Columns) -> Iterator[Line]:
    if columns.heading:
        yield columns.heading
    for address, relationship in _iter_listed(account_id, edge_list):
        yield [address, *columns.read(relationship)]


def _iter_members(account_id: int) -> Iterator[Line]:
    for account_list in list_account_lists(account_id):
        for address, _ in _iter_listed(account_id, EdgeList(member_rows(account_list.list_id))):
            yield [account_list.title, address]


def _iter_listed(account_id: int, edge_list: EdgeList) -> Iterator[tuple[str, Relationship]]:
    """The addresses of a list, `name@host`, newest first, with the relationships to them."""
    window: Window | None = Window(PAGE)
    while window is not None:
        page = list_page(edge_list, account_id, window)
        ids = [listed.account_id for listed in page.items]
        profiles, relationships = load_profiles(ids), load_relationships(account_id, ids)
        yield from (
            (f"{profiles[i].username}@{domain()}", relationships[i]) for i in ids if i in profiles
        )
        window = window._replace(max_id=page.older) if page.older else None


def _word(value: bool) -> str:
    return "true" if value else "false"
