"""Rosters over HTTP, as Mastodon's lists. All of them are the caller's own."""

from collections.abc import Iterable

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import Account
from accounts.queries.load import require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, Window
from infra.api.parameters import PAGING
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.api.views.lists import answer_accounts, read_page
from relations.queries.lists import EdgeList, list_page
from relations.rosters.actions.members import MOST_MEMBERS, add_members, remove_members
from relations.rosters.actions.rosters import change_roster, create_roster, delete_roster
from relations.rosters.api import schema
from relations.rosters.api.parse import (
    read_account_ids,
    read_new_title,
    read_roster_id,
    read_wish,
)
from relations.rosters.queries.rows import (
    get_roster,
    list_rosters,
    list_rosters_with,
    member_rows,
)
from relations.rosters.types import RepliesPolicy, Roster

NOTHING = b"{}"


class ListsView(Endpoint):
    """My lists, the oldest first. Nobody else sees them, nor that they exist."""

    scopes = {"GET": "read:lists", "POST": "write:lists"}

    @extend_schema(responses=schema.List(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer_all(list_rosters(request.account_id))

    @extend_schema(request=schema.NewList, responses=schema.List)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Makes a list with nobody on it."""
        title, wish = read_new_title(request.data), read_wish(request.data)
        policy = wish.replies_policy or RepliesPolicy.LIST
        return _answer(create_roster(request.account_id, title, policy))


class ListView(Endpoint):
    """One of my lists."""

    scopes = {"GET": "read:lists", "PUT": "write:lists", "DELETE": "write:lists"}

    @extend_schema(responses=schema.List)
    def get(self, request: ApiRequest, list_id: str) -> HttpResponse:
        return _answer(get_roster(request.account_id, read_roster_id(list_id)))

    @extend_schema(request=schema.ListChange, responses=schema.List)
    def put(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Changes what is sent, and leaves the rest."""
        roster_id, wish = read_roster_id(list_id), read_wish(request.data)
        return _answer(change_roster(request.account_id, roster_id, wish))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, list_id: str) -> HttpResponse:
        delete_roster(request.account_id, read_roster_id(list_id))
        return json_response(NOTHING)


class ListAccountsView(Endpoint):
    """Who is on one of my lists, the newest follow first. Whom I unfollow is no longer on it."""

    scopes = {"GET": "read:lists", "POST": "write:lists", "DELETE": "write:lists"}

    @extend_schema(parameters=PAGING, responses=Account(many=True))
    def get(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """With `limit=0` all at once, as Mastodon has it."""
        owner_id = request.account_id
        roster = get_roster(owner_id, read_roster_id(list_id))
        members = EdgeList(member_rows(roster.roster_id))
        if request.query_params.get("limit") == "0":
            all_of_it = list_page(members, owner_id, Window(MOST_MEMBERS))
            return answer_accounts(request, Page(all_of_it.items, None, None))
        return answer_accounts(request, read_page(request, members, owner_id))

    @extend_schema(request=schema.ListedAccounts, responses={200: None})
    def post(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Puts accounts I follow on it, all or none. Doing it twice is once."""
        ids = read_account_ids(request.data, request.query_params)
        add_members(request.account_id, read_roster_id(list_id), ids)
        return json_response(NOTHING)

    @extend_schema(parameters=[schema.ACCOUNT_IDS], responses={200: None})
    def delete(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Takes accounts off it. Doing it twice is once."""
        ids = read_account_ids(request.data, request.query_params)
        remove_members(request.account_id, read_roster_id(list_id), ids)
        return json_response(NOTHING)


class ListsWithView(Endpoint):
    """Those of my lists that an account is on."""

    scopes = {"GET": "read:lists"}

    @extend_schema(responses=schema.List(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        return _answer_all(list_rosters_with(request.account_id, account_id))


def _answer(roster: Roster) -> HttpResponse:
    return json_response(orjson.dumps(_entity(roster)))


def _answer_all(rosters: Iterable[Roster]) -> HttpResponse:
    return json_response(orjson.dumps([_entity(roster) for roster in rosters]))


def _entity(roster: Roster) -> dict[str, object]:
    return {
        "id": str(roster.roster_id),
        "title": roster.title,
        "replies_policy": roster.replies_policy.name.lower(),
        "exclusive": False,
    }
