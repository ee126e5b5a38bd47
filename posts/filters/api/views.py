"""Filters over HTTP: the owner's, with their keywords and posts. No other account sees them."""

from collections.abc import Sequence
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.errors import PostNotFound
from posts.filters.actions.edit_filters import edit_filters, remove_filter
from posts.filters.api import schema
from posts.filters.api.parse import read_filter_edit, read_filter_id, read_keyword_edit
from posts.filters.api.present import present_filter, present_filtered_status, present_keyword
from posts.filters.queries.filters import get_filter_book, list_filters
from posts.filters.types import FilterEdit, PostFilter
from posts.ids import MalformedPostId, PostId
from posts.reading.statuses import load_status_json

READ, WRITE = "read:filters", "write:filters"
NOTHING = b"{}"


class FiltersView(Endpoint):
    """My filters, the oldest first."""

    scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(responses=schema.FilterEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_answer([present_filter(rule) for rule in list_filters(request.account_id)])

    @extend_schema(request=schema.NewFilterBody, responses=schema.FilterEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Creates a filter. It takes effect at my next read."""
        edit = read_filter_edit(request.data, is_new=True)
        made = edit_filters(request.account_id, lambda book: book.create(edit))
        return json_answer(present_filter(made))


class FilterView(Endpoint):
    """One of my filters."""

    scopes = {"GET": READ, "PUT": WRITE, "DELETE": WRITE}

    @extend_schema(responses=schema.FilterEntity)
    def get(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        return json_answer(present_filter(_get_filter(request, filter_id)))

    @extend_schema(request=schema.FilterEditBody, responses=schema.FilterEntity)
    def put(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        """Changes what is sent. Keywords with an id are changed or, with `_destroy`, removed."""
        number, edit = read_filter_id(filter_id), read_filter_edit(request.data)
        changed = edit_filters(request.account_id, lambda book: book.change(number, edit))
        return json_answer(present_filter(changed))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        remove_filter(request.account_id, read_filter_id(filter_id))
        return json_response(NOTHING)


class FilterKeywordsView(Endpoint):
    """The keywords of one of my filters."""

    scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(responses=schema.FilterKeywordEntity(many=True))
    def get(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        return json_answer(
            [present_keyword(keyword) for keyword in _get_filter(request, filter_id).keywords]
        )

    @extend_schema(request=schema.NewKeywordBody, responses=schema.FilterKeywordEntity)
    def post(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        """Adds a keyword."""
        number, keyword = read_filter_id(filter_id), read_keyword_edit(request.data)
        edit = FilterEdit(keywords=[keyword])
        changed = edit_filters(request.account_id, lambda book: book.change(number, edit))
        return json_answer(present_keyword(changed.keywords[-1]))


class FilterKeywordView(Endpoint):
    """One keyword of my filters."""

    scopes = {"GET": READ, "PUT": WRITE, "DELETE": WRITE}

    @extend_schema(responses=schema.FilterKeywordEntity)
    def get(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        book = get_filter_book(request.account_id)
        return json_answer(present_keyword(book.find_keyword(read_filter_id(keyword_id))[1]))

    @extend_schema(request=schema.KeywordEditBody, responses=schema.FilterKeywordEntity)
    def put(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        edit = read_keyword_edit(request.data, read_filter_id(keyword_id))
        changed = edit_filters(request.account_id, lambda book: book.change_keyword(edit))
        return json_answer(present_keyword(changed))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        number = read_filter_id(keyword_id)
        edit_filters(request.account_id, lambda book: book.remove_keyword(number))
        return json_response(NOTHING)


class FilterStatusesView(Endpoint):
    """The posts that one of my filters names."""

    scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(responses=schema.FilterStatusEntity(many=True))
    def get(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        statuses = _get_filter(request, filter_id).statuses
        return json_answer([present_filtered_status(status) for status in statuses])

    @extend_schema(request=schema.NewFilterStatusBody, responses=schema.FilterStatusEntity)
    def post(self, request: ApiRequest, filter_id: str) -> HttpResponse:
        """Adds a post that I may see."""
        number, post_id = read_filter_id(filter_id), _read_status(request)
        added = edit_filters(
            request.account_id, lambda book: book.add_status(number, post_id.public)
        )
        return json_answer(present_filtered_status(added))


class FilterStatusView(Endpoint):
    """One post that my filters name."""

    scopes = {"GET": READ, "DELETE": WRITE}

    @extend_schema(responses=schema.FilterStatusEntity)
    def get(self, request: ApiRequest, rule_id: str) -> HttpResponse:
        book = get_filter_book(request.account_id)
        return json_answer(present_filtered_status(book.find_status(read_filter_id(rule_id))[1]))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, rule_id: str) -> HttpResponse:
        number = read_filter_id(rule_id)
        edit_filters(request.account_id, lambda book: book.remove_status(number))
        return json_response(NOTHING)


def json_answer(body: dict[str, Any] | Sequence[dict[str, Any]]) -> HttpResponse:
    return json_response(orjson.dumps(body))


def _get_filter(request: ApiRequest, filter_id: str) -> PostFilter:
    """Raises: FilterNotFound."""
    return get_filter_book(request.account_id).get(read_filter_id(filter_id))


def _read_status(request: ApiRequest) -> PostId:
    """Raises: PostNotFound if the caller may not see the post."""
    try:
        post_id = PostId.from_public(str(request.data.get("status_id") or ""))
    except MalformedPostId:
        raise PostNotFound from None
    if not load_status_json([post_id], request.account_id):
        raise PostNotFound
    return post_id
