"""Account lists over HTTP, as Mastodon's lists. Callers see and change only their own."""

from collections.abc import Iterable

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from accounts.queries.load import load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, Window, page_response, paging
from infra.api.parsing import read_flag
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.api.views.edge_lists import answer_own_list
from relations.lists.actions.lists import (
    change_account_list,
    create_account_list,
    delete_account_list,
)
from relations.lists.actions.members import MOST_MEMBERS, add_members, remove_members
from relations.lists.api import schema
from relations.lists.api.parse import (
    read_account_ids,
    read_list_id,
    read_list_options,
    read_new_members,
    read_new_title,
)
from relations.lists.api.present import present_list, present_summary
from relations.lists.queries.lists import (
    get_account_list,
    list_account_lists,
    list_account_lists_and_members,
    list_account_lists_with,
    member_rows,
)
from relations.lists.types import ListDescription, RepliesPolicy
from relations.queries.edge_lists import CURSOR_DIGITS, EdgeList
from relations.queries.shown_lists import list_shown

NOTHING = b"{}"


class ListsView(Endpoint):
    """My lists, the oldest first. Other accounts do not see them."""

    scopes = {"GET": "read:lists", "POST": "write:lists"}

    @extend_schema(parameters=[schema.WITH_MEMBERS], responses=schema.ListEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        """With `with_members` each says how many members it has, and names the newest."""
        if not read_flag(request.query_params, "with_members"):
            return _answer_all(list_account_lists(request.account_id))
        summaries = list_account_lists_and_members(request.account_id)
        return json_response(b"[%b]" % b",".join(map(present_summary, summaries)))

    @extend_schema(request=schema.NewListBody, responses=schema.ListEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        """Creates an empty list."""
        title, options = read_new_title(request.data), read_list_options(request.data)
        policy = options.replies_policy or RepliesPolicy.LIST
        made = create_account_list(request.account_id, title, policy, bool(options.exclusive))
        return _answer(made)


class ListView(Endpoint):
    """One of my lists."""

    scopes = {"GET": "read:lists", "PUT": "write:lists", "DELETE": "write:lists"}

    @extend_schema(responses=schema.ListEntity)
    def get(self, request: ApiRequest, list_id: str) -> HttpResponse:
        return _answer(get_account_list(request.account_id, read_list_id(list_id)))

    @extend_schema(request=schema.ListChangeBody, responses=schema.ListEntity)
    def put(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Changes the fields that are sent, and keeps the others."""
        number, options = read_list_id(list_id), read_list_options(request.data)
        return _answer(change_account_list(request.account_id, number, options))

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, list_id: str) -> HttpResponse:
        delete_account_list(request.account_id, read_list_id(list_id))
        return json_response(NOTHING)


class ListAccountsView(Endpoint):
    """Members of one of my lists, the newest follow first. Unfollowing removes a member."""

    scopes = {"GET": "read:lists", "POST": "write:lists", "DELETE": "write:lists"}

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=AccountEntity(many=True))
    def get(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """With `limit=0` all members at once, as in Mastodon."""
        owner_id = request.account_id
        account_list = get_account_list(owner_id, read_list_id(list_id))
        members = EdgeList(member_rows(account_list.list_id))
        if request.query_params.get("limit") == "0":
            show = load_account_json
            whole = list_shown(members, owner_id, Window(MOST_MEMBERS), show)
            return page_response(request, Page(whole.items, None, None))
        return answer_own_list(request, members)

    @extend_schema(request=schema.ListedAccountsBody, responses={200: None})
    def post(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Adds accounts I follow, all or none. Existing members stay."""
        ids = read_new_members(request.data)
        add_members(request.account_id, read_list_id(list_id), ids)
        return json_response(NOTHING)

    @extend_schema(parameters=[schema.ACCOUNT_IDS], responses={200: None})
    def delete(self, request: ApiRequest, list_id: str) -> HttpResponse:
        """Removes accounts. Accounts that are no members are ignored."""
        ids = read_account_ids(request.data)
        remove_members(request.account_id, read_list_id(list_id), ids)
        return json_response(NOTHING)


class ListsWithView(Endpoint):
    """My lists that have this account as a member."""

    scopes = {"GET": "read:lists"}

    @extend_schema(responses=schema.ListEntity(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        return _answer_all(list_account_lists_with(request.account_id, account_id))


def _answer(account_list: ListDescription) -> HttpResponse:
    return json_response(present_list(account_list))


def _answer_all(account_lists: Iterable[ListDescription]) -> HttpResponse:
    return json_response(b"[%b]" % b",".join(map(present_list, account_lists)))
