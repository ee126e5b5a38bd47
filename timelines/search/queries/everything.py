"""One search for accounts, posts and tags."""

from collections.abc import Collection

import orjson

from accounts.queries.load import load_account_json
from accounts.queries.users import find_account_ids
from accounts.texts.links import is_part_of_tag, normalize_tag, without_tag_sign
from infra.api.errors import InvalidRequest
from posts.queries.search import ANY_POST
from posts.reading.statuses import load_status_json
from timelines.search.addresses import parse_account_address
from timelines.search.days import DayRange, intersect
from timelines.search.feed import search_statuses
from timelines.search.operators import ME, read_operators
from timelines.search.queries.accounts import search_accounts
from timelines.search.types import (
    AccountSearch,
    PostSearch,
    ResultType,
    SearchRequest,
    SearchResults,
)
from timelines.tags.api.present import present_tags
from timelines.tags.queries.search import search_tags


def search_everything(request: SearchRequest) -> SearchResults:
    """The best results of each wanted type.

    Posts are searched for viewers only; guests find the post that a URL names. Cost: the sum of the
    wanted types, one after another.
    """
    wanted = request.types
    return SearchResults(
        accounts=_find_accounts(request) if ResultType.ACCOUNTS in wanted else (),
        statuses=_find_statuses(request) if ResultType.STATUSES in wanted else (),
        hashtags=_find_tags(request) if ResultType.HASHTAGS in wanted else (),
    )


def _find_accounts(request: SearchRequest) -> list[bytes]:
    text, viewer_id = request.text, request.viewer_id
    search = AccountSearch(text, viewer_id, request.limit, request.offset, request.is_following)
    return list(load_account_json(search_accounts(search), viewer_id).values())


def _find_tags(request: SearchRequest) -> list[bytes]:
    """Tags that begin with the text, which is one word, with or without `#`."""
    text = without_tag_sign(request.text)
    if not is_part_of_tag(text):
        return []
    names = search_tags(normalize_tag(text), request.limit, request.offset)
    return [orjson.dumps(tag) for tag in present_tags(names, request.viewer_id)]


def _find_statuses(request: SearchRequest) -> list[bytes]:
    address = parse_account_address(request.text)
    if address.post_id is not None and not request.offset:
        return list(load_status_json([address.post_id], request.viewer_id).values())
    if address.is_all or request.viewer_id is None:
        return []
    search = _read_post_search(request, request.viewer_id)
    return search_statuses(search) if search is not None else []


def _read_post_search(request: SearchRequest, viewer_id: int) -> PostSearch | None:
    """None: no account has the name after `from:`, or it is not the wanted author.

    Raises: InvalidRequest for what cannot be searched for.
    """
    words, name, unwanted, written, traits, in_library = read_operators(request.text)
    ids = _find_authors([*unwanted, *([name] if name else ())], viewer_id)
    author_id = ids.get(name) if name else request.author_id
    if name and (author_id is None or request.author_id not in (None, author_id)):
        return None
    is_open = author_id is None and not in_library
    if traits != ANY_POST and is_open and not words.text.strip():
        raise InvalidRequest("q must have words or from:name next to what posts must have or be")
    others = [ids[name] for name in unwanted if name in ids]
    page = (request.limit, request.offset)
    between = intersect([written, DayRange(request.above, request.below)])
    return PostSearch(words, viewer_id, *page, author_id, others, *between, traits, in_library)


def _find_authors(names: Collection[str], viewer_id: int) -> dict[str, int]:
    """The account id of each name that names an account. Cost: one query, none without names."""
    usernames = {name: (parse_account_address(name).username or "").lower() for name in names}
    ids_by_username = find_account_ids(usernames.values()) if usernames else {}
    ids = {
        name: ids_by_username[username]
        for name, username in usernames.items()
        if username in ids_by_username
    }
    return ids | {name: viewer_id for name in names if name.lower() == ME}
