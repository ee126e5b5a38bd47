"""Endpoints of searches, and of the directory."""

from collections.abc import Iterable
from functools import partial

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema

from accounts.api.schema import AccountEntity
from accounts.queries.load import load_account_json
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.fields import flag_parameter
from infra.api.openapi import error_response
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.missing_databases import INCOMPLETE_HEADER, answer_available
from timelines.search.api import schema
from timelines.search.api.parse import read_offset, read_search, read_search_text
from timelines.search.api.schema import LIMIT, OFFSET
from timelines.search.queries.accounts import search_accounts
from timelines.search.queries.directory import DirectoryOrder, DirectoryPage, list_directory
from timelines.search.queries.everything import search_everything
from timelines.search.types import AccountSearch, SearchResults

DEFAULT_LIMIT, MOST = 40, 80
ORDER = OpenApiParameter(
    "order",
    {"type": "string", "enum": [order.value for order in DirectoryOrder]},
    description="By the last public post (the default), or by the sign-up",
)
LOCAL = flag_parameter("local", "Accounts of this server: all are")
DEFAULT_ACCOUNTS, MOST_ACCOUNTS = 40, 80


class DirectoryView(Endpoint):
    """Accounts that want to be found. The directory has the first few hundred."""

    public = True

    @extend_schema(parameters=[ORDER, LIMIT, OFFSET, LOCAL], responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        query = request.query_params
        read_flag(query, "local")
        page = DirectoryPage(
            _read_order(query.get("order", "")),
            read_offset(query),
            read_limit(query.get("limit"), DEFAULT_LIMIT, MOST),
            request.viewer_id,
        )
        return json_response(b"[%b]" % b",".join(list_directory(page)))


class AccountSearchView(Endpoint):
    """Accounts by their names, the best first. Mutuals and accounts I follow come first."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(
        parameters=[
            schema.TEXT,
            schema.LIMIT,
            schema.OFFSET,
            schema.RESOLVE,
            schema.FOLLOWING,
            INCOMPLETE_HEADER,
        ],
        responses=AccountEntity(many=True),
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        query, viewer_id = request.query_params, request.account_id
        read_flag(query, "resolve")
        search = AccountSearch(
            read_search_text(query),
            viewer_id,
            read_limit(query.get("limit"), DEFAULT_ACCOUNTS, MOST_ACCOUNTS),
            read_offset(query),
            read_flag(query, "following"),
        )
        return answer_available(partial(_find_accounts, search))


class SearchView(Endpoint):
    """Accounts, posts and tags by words. Posts are public ones, newest first.

    A post must have all words. `"two words"`: next to each other. `-word`, `-"two words"` and
    `-#tag`: the post must not have these. `#tag`: exactly this tag. `from:name` and `from:me`:
    posts of this account only, also without words; `-from:name`: none of it. `has:media`,
    `has:poll`, `is:reply`, `is:sensitive` and `language:en`, also with a minus: only such posts.
    `in:library`: posts that I wrote, favourited, bookmarked, reposted or voted in, and no others. A
    quote without a partner is ignored. Guests find accounts and tags, and one page of them.
    """

    scopes = {"GET": "read:search"}
    public = True

    @extend_schema(
        parameters=[*schema.EVERYTHING, INCOMPLETE_HEADER],
        responses={200: schema.SearchEntity, 404: error_response("No account has this account_id")},
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        search = read_search(request)
        return answer_available(lambda: _present(search_everything(search)))


def _find_accounts(search: AccountSearch) -> bytes:
    return _join(load_account_json(search_accounts(search), search.viewer_id).values())


def _present(results: SearchResults) -> bytes:
    lists = map(_join, results)
    return b'{"accounts":%b,"statuses":%b,"hashtags":%b}' % tuple(lists)


def _join(entities: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(entities)


def _read_order(word: str) -> DirectoryOrder:
    """Raises: InvalidRequest."""
    try:
        return DirectoryOrder(word or DirectoryOrder.ACTIVE)
    except ValueError:
        raise InvalidRequest("order must be active or new") from None
