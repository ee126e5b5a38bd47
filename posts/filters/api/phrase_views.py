"""Mastodon's first API of filters, for old clients: each keyword is a filter of its own."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from msgspec.structs import replace

from infra.api.endpoint import Endpoint
from infra.api.parsing import find_flag
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.filters.account_filters import AccountFilters
from posts.filters.actions.edit_filters import edit_filters
from posts.filters.api import schema
from posts.filters.api.parse import read_filter_id, read_phrase_edit
from posts.filters.api.present import present_phrase
from posts.filters.api.views import NOTHING, READ, WRITE, json_answer
from posts.filters.errors import HasOtherKeywords
from posts.filters.queries.filters import get_filter_book, list_filters
from posts.filters.types import FilterEdit, FilterKeyword, KeywordEdit, PostFilter


class PhraseFiltersView(Endpoint):
    """The keywords of my filters."""

    scopes = {"GET": READ, "POST": WRITE}

    @extend_schema(responses=schema.PhraseFilterEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        filters = list_filters(request.account_id)
        return json_answer(
            [present_phrase(rule, word) for rule in filters for word in rule.keywords]
        )

    @extend_schema(request=schema.NewPhraseFilterBody, responses=schema.PhraseFilterEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Creates a filter with one keyword."""
        edit, phrase = read_phrase_edit(request.data, is_new=True)
        keyword = KeywordEdit(None, phrase, find_flag(request.data, "whole_word"))
        made = edit_filters(
            request.account_id, lambda book: book.create(with_keyword(edit, keyword))
        )
        return json_answer(present_phrase(made, made.keywords[0]))


class PhraseFilterView(Endpoint):
    """One keyword of my filters."""

    scopes = {"GET": READ, "PUT": WRITE, "DELETE": WRITE}

    @extend_schema(responses=schema.PhraseFilterEntity)
    def get(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        book = get_filter_book(request.account_id)
        return json_answer(present_phrase(*book.find_keyword(read_filter_id(keyword_id))))

    @extend_schema(request=schema.PhraseFilterEditBody, responses=schema.PhraseFilterEntity)
    def put(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        """Changes what is sent. A filter with other keywords only changes this keyword's text."""
        number, (edit, phrase) = read_filter_id(keyword_id), read_phrase_edit(request.data)
        keyword = KeywordEdit(number, phrase or None, find_flag(request.data, "whole_word"))

        def change(book: AccountFilters) -> tuple[PostFilter, FilterKeyword]:
            owner, _ = book.find_keyword(number)
            changed = book.change(owner.filter_id, with_keyword(edit, keyword))
            if len(owner.keywords) > 1 and _differ(owner, changed):
                raise HasOtherKeywords
            return book.find_keyword(number)

        return json_answer(present_phrase(*edit_filters(request.account_id, change)))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, keyword_id: str) -> HttpResponse:
        """Removes the keyword, and the filter if it has nothing else."""
        number = read_filter_id(keyword_id)
        edit_filters(request.account_id, lambda book: book.remove_keyword(number, True))
        return json_response(NOTHING)


def with_keyword(edit: FilterEdit, keyword: KeywordEdit) -> FilterEdit:
    return replace(edit, keywords=[keyword])


def _differ(old: PostFilter, new: PostFilter) -> bool:
    """Whether anything but the keywords changed."""
    return replace(old, keywords=()) != replace(new, keywords=())
