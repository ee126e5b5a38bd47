"""One search for accounts, posts and tags."""

import orjson

from accounts.queries.load import load_account_json
from accounts.queries.users import find_account_id
from infra.api.links import normalize_tag
from posts.queries.statuses import load_status_json
from search.addresses import read_address
from search.operators import ME, read_operators
from search.queries.accounts import search_accounts
from search.queries.statuses import search_statuses
from search.types import AccountSearch, PostSearch, ResultType, SearchRequest, SearchResults
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
    text = request.text.removeprefix("#")
    if not all(sign.isalnum() or sign == "_" for sign in text):
        return []
    names = search_tags(normalize_tag(text), request.limit, request.offset)
    return [orjson.dumps(tag) for tag in present_tags(names, request.viewer_id)]


def _find_statuses(request: SearchRequest) -> list[bytes]:
    address = read_address(request.text)
    if address.post_id is not None and not request.offset:
        return list(load_status_json([address.post_id], request.viewer_id).values())
    if address.is_all or request.viewer_id is None:
        return []
    search = _read_post_search(request, request.viewer_id)
    return search_statuses(search) if search is not None else []


def _read_post_search(request: SearchRequest, viewer_id: int) -> PostSearch | None:
    """None: no account has the name after `from:`, or it is not the wanted author."""
    text, name, tags = read_operators(request.text)
    author_id = request.author_id
    if name is not None:
        author_id = _find_author(name, viewer_id)
        if author_id is None or request.author_id not in (None, author_id):
            return None
    page = (request.limit, request.offset)
    return PostSearch(text, viewer_id, *page, author_id, request.above, request.below, tags)


def _find_author(name: str, viewer_id: int) -> int | None:
    if name.lower() == ME:
        return viewer_id
    username = read_address(name).username
    return None if username is None else find_account_id(username)
