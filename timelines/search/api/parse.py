"""The parameters of searches."""

from collections.abc import Collection, Mapping

from accounts.errors import AccountNotFound
from infra.api.errors import InvalidCursor, InvalidRequest, TokenInvalid
from infra.api.ids import parse_account_id
from infra.api.parsing import clean_text, read_count, read_flag, read_limit
from infra.api.request import ApiRequest
from posts.ids import FIRST, LAST, MalformedPostId, PostId
from timelines.search.types import ResultType, SearchRequest

LONGEST_TEXT = 500
# Deeper pages are empty: every page ranks all results before it.
MOST_OFFSET = 1_000_000
DEFAULT_RESULTS, MOST_RESULTS = 20, 40
_FLAGS = ("resolve", "exclude_unreviewed")


class SearchNeedsToken(TokenInvalid):
    """A guest asked for a deeper page, or to resolve. As Mastodon answers."""

    text = "Without a token, searches have one page and resolve nothing"


def read_search(request: ApiRequest) -> SearchRequest:
    """A search for everything.

    Raises: InvalidRequest, InvalidCursor; SearchNeedsToken for what guests may not ask.
    """
    query, viewer_id = request.query_params, request.viewer_id
    flags = {name: read_flag(query, name) for name in _FLAGS}
    offset = read_offset(query)
    if viewer_id is None and (offset or flags["resolve"]):
        raise SearchNeedsToken
    return SearchRequest(
        text=read_search_text(query),
        viewer_id=viewer_id,
        types=_read_types(query),
        limit=read_limit(query.get("limit"), DEFAULT_RESULTS, MOST_RESULTS),
        offset=offset,
        is_following=read_flag(query, "following"),
        author_id=_read_author(query),
        above=_read_cursor(query, "min_id") or FIRST,
        below=_read_cursor(query, "max_id") or LAST,
    )


def read_search_text(query: Mapping[str, str]) -> str:
    """The text to search for, without blanks around it. Raises: InvalidRequest."""
    text = clean_text(query.get("q", ""), "q").strip()
    if not text:
        raise InvalidRequest("q must not be empty")
    if len(text) > LONGEST_TEXT:
        raise InvalidRequest(f"q must have at most {LONGEST_TEXT} characters")
    return text


def read_offset(query: Mapping[str, str]) -> int:
    """How many results to leave out. Raises: InvalidRequest."""
    return read_count(query, "offset", MOST_OFFSET)


def _read_types(query: Mapping[str, str]) -> Collection[ResultType]:
    text = query.get("type")
    if not text:
        return tuple(ResultType)
    if text not in set(ResultType):
        raise InvalidRequest(f"type must be one of {', '.join(ResultType)}")
    return (ResultType(text),)


def _read_author(query: Mapping[str, str]) -> int | None:
    text = query.get("account_id")
    if not text:
        return None
    account_id = parse_account_id(text)
    if account_id is None:
        raise AccountNotFound
    return account_id


def _read_cursor(query: Mapping[str, str], name: str) -> PostId | None:
    text = query.get(name)
    if not text:
        return None
    try:
        return PostId.from_cursor(text)
    except MalformedPostId:
        raise InvalidCursor from None
