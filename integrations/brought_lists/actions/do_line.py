"""Does what a line says, by the actions of the API. Each is idempotent."""

from collections.abc import Callable, Mapping, Sequence

from accounts.identities.queries.bound_accounts import load_account_ids
from accounts.queries.profiles import find_profile
from accounts.queries.users import find_account_id
from accounts.types import FIRST_TENANT, Restriction
from infra.api.errors import TidelineError
from integrations.brought_lists.errors import FileRefused
from integrations.brought_lists.types import BroughtKind
from posts.actions.mark_post import mark_post
from posts.external.queries.posts import load_known_posts
from posts.ids import PostId
from posts.reading.statuses import get_original
from posts.types import Kind
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.errors import TooManyFollowsToday
from relations.languages import check_languages
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.lists.errors import NotFollowed
from relations.lists.queries.lists import list_account_lists
from relations.types import FollowOptions
from timelines.search.addresses import parse_account_address

MOST_TITLE = 200
Cells = Sequence[str]


def do_line(owner_id: int, kind: BroughtKind, cells: Cells) -> str:
    """Empty if it is done, else why it is refused. Raises: TooManyFollowsToday, UNREACHABLE."""
    try:
        ACTIONS[kind](owner_id, cells)
    except TooManyFollowsToday:
        raise
    except TidelineError as error:
        return str(error)
    return ""


def _follow(owner_id: int, cells: Cells) -> None:
    address, boosts, notify, languages = cells
    codes = check_languages(filter(None, map(str.strip, languages.split(","))))
    options = FollowOptions(reposts=_flag(boosts), notify=_flag(notify), languages=codes or None)
    follow(owner_id, _account(address), options)


def _block(owner_id: int, cells: Cells) -> None:
    block(owner_id, _account(cells[0]))


def _mute(owner_id: int, cells: Cells) -> None:
    mute(owner_id, _account(cells[0]), hides_notifications=_flag(cells[1]) is not False)


def _bookmark(owner_id: int, cells: Cells) -> None:
    mark_post(owner_id, get_original(_post(cells[0]), owner_id), Kind.BOOKMARK, True)


def _add_to_list(owner_id: int, cells: Cells) -> None:
    """Into the oldest list of this name, or a new one."""
    title, address = cells
    if not 0 < len(title) <= MOST_TITLE:
        raise FileRefused(f"The name of a list has 1 to {MOST_TITLE} characters")
    account_id = _account(address)
    known = [each.list_id for each in list_account_lists(owner_id) if each.title == title]
    list_id = known[0] if known else create_account_list(owner_id, title).list_id
    try:
        add_members(owner_id, list_id, [account_id])
    except NotFollowed:
        raise FileRefused("You do not follow this account") from None


def _account(address: str) -> int:
    """The account of this site, or the one that was imported with this address. One that no reader
    sees is not there: the result must not tell that it is suspended."""
    name = parse_account_address(address).username
    account_id = find_account_id(name) if name else None
    if account_id is None:
        key = address.removeprefix("@").lower()
        account_id = load_account_ids(FIRST_TENANT, [key]).get(key)
    profile = find_profile(account_id) if account_id else None
    if profile is None or Restriction.SUSPENDED in profile.restrictions:
        raise FileRefused("There is no such account here")
    return profile.id


def _post(url: str) -> PostId:
    """The post of this site, or the one that was imported with this URL."""
    post_id = parse_account_address(url).post_id
    if post_id is None and url:
        known = load_known_posts(FIRST_TENANT, [url]).get(url)
        post_id = known.post_id if known else None
    if post_id is None:
        raise FileRefused("There is no such post here")
    return post_id


def _flag(cell: str) -> bool | None:
    return {"true": True, "false": False}.get(cell.lower())


ACTIONS: Mapping[BroughtKind, Callable[[int, Cells], None]] = {
    BroughtKind.FOLLOWS: _follow,
    BroughtKind.BLOCKS: _block,
    BroughtKind.MUTES: _mute,
    BroughtKind.BOOKMARKS: _bookmark,
    BroughtKind.LISTS: _add_to_list,
}
