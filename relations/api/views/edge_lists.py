"""Pages of edge lists: followers, followees, blocked and muted accounts."""

from functools import partial
from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from accounts.errors import AccountNotFound
from accounts.queries.load import load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, Window, page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.request import ApiRequest
from infra.clock import now_ms
from relations.api.present import present_muted
from relations.api.schema import MutedAccountEntity
from relations.queries.big_following import find_big_following
from relations.queries.edge_lists import (
    BLOCKS_LIST,
    CURSOR_DIGITS,
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_FOLLOWERS_LIST,
    QUIET_LIST,
    SPECIAL_LIST,
    EdgeList,
    cut_page,
    list_page,
)
from relations.queries.edge_rows import muted_at, read_mute_ends
from relations.types import ListedAccount

DEFAULT_LIMIT, MOST = 40, 80


class FollowersView(Endpoint):
    """Followers of an account, newest first. Only the account itself sees its quiet followers."""

    scopes = {"GET": "read:accounts"}
    public = True
    shown: ClassVar[EdgeList] = FOLLOWERS_LIST
    own: ClassVar[EdgeList] = OWN_FOLLOWERS_LIST

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=AccountEntity(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        return self.answer(request, account_id)

    def answer(self, request: ApiRequest, account_id: int) -> HttpResponse:
        """The requested page, as the caller may see it.

        Raises: AccountNotFound, before a shard is read for an account that is not shown.
        """
        edge_list = self.own if request.is_from(account_id) else self.shown
        window, check = read_list_window(request), partial(require_account, account_id)
        page = list_page(edge_list, account_id, window, check)
        return answer_accounts(request, page, account_id)


class FollowingView(FollowersView):
    """Followees of an account, newest first. Only the account itself sees its quiet follows."""

    shown = FOLLOWING_LIST
    own = OWN_FOLLOWING_LIST

    def answer(self, request: ApiRequest, account_id: int) -> HttpResponse:
        if request.is_from(account_id):
            return super().answer(request, account_id)
        whole = find_big_following(account_id)
        if whole is None:
            return answer_accounts(request, read_page(request, self.shown, account_id))
        page = cut_page(read_list_window(request), whole.below, whole.above)
        return answer_accounts(request, page)


class QuietFollowingView(Endpoint):
    """Accounts I follow quietly, newest first."""

    scopes = {"GET": "read:follows"}
    edge_list: ClassVar[EdgeList] = QUIET_LIST

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return answer_accounts(request, read_page(request, self.edge_list, request.account_id))


class QuietFollowersView(QuietFollowingView):
    """Accounts that follow me quietly, newest first."""

    edge_list = QUIET_FOLLOWERS_LIST


class SpecialFollowingView(QuietFollowingView):
    """Accounts I marked as special, newest follow first."""

    edge_list = SPECIAL_LIST


class BlocksView(QuietFollowingView):
    """Accounts I block, newest first."""

    scopes = {"GET": "read:blocks"}
    edge_list = BLOCKS_LIST


class MutesView(Endpoint):
    """Accounts I mute, newest first, and when each mute ends."""

    scopes = {"GET": "read:mutes"}

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=MutedAccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        owner_id = request.account_id
        page = read_page(request, EdgeList(muted_at(now_ms())), owner_id)
        ids = [listed.account_id for listed in page.items]
        accounts, ends = load_account_json(ids), read_mute_ends(owner_id, ids)
        bodies = [present_muted(accounts[i], ends[i]) for i in ids if i in accounts]
        return page_response(request, Page(bodies, page.older, page.newer))


def read_page(request: ApiRequest, edge_list: EdgeList, account_id: int) -> Page[ListedAccount]:
    """The requested page of a list. Raises InvalidRequest, InvalidCursor."""
    return list_page(edge_list, account_id, read_list_window(request))


def read_list_window(request: ApiRequest) -> Window:
    """The part of a list that is requested. Raises InvalidRequest, InvalidCursor."""
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(request.query_params, limit, sum(CURSOR_DIGITS))


def answer_accounts(
    request: ApiRequest, page: Page[ListedAccount], owner_id: int | None = None
) -> HttpResponse:
    """The answer with a page of accounts.

    `owner_id`: the account whose page it is, if it may be one that is not shown. Raises:
    AccountNotFound, for that one.
    """
    ids = [listed.account_id for listed in page.items]
    accounts = load_account_json(ids if owner_id is None else [*ids, owner_id])
    if owner_id is not None and owner_id not in accounts:
        raise AccountNotFound
    bodies = [accounts[i.account_id] for i in page.items if i.account_id in accounts]
    return page_response(request, Page(bodies, page.older, page.newer))
