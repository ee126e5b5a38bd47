"""Pages of edge lists: followers, followees, blocked and muted accounts."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from accounts.encode import hides_collections
from accounts.errors import AccountNotFound
from accounts.queries.load import load_accounts_for, require_account
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
    ENDORSED_LIST,
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_ENDORSED_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_FOLLOWERS_LIST,
    QUIET_LIST,
    REQUESTS_LIST,
    SPECIAL_LIST,
    EdgeList,
    cut_page,
    list_page,
)
from relations.queries.edge_rows import muted_at, read_mute_ends
from relations.types import ListedAccount

DEFAULT_LIMIT, MOST = 40, 80


class FollowersView(Endpoint):
    """Followers of an account, newest first. Only the account itself sees its quiet followers.

    The list is empty for others if the account hides its collections.
    """

    scopes = {"GET": "read:accounts"}
    public = True
    is_quick = True
    in_read_window = True
    shown: ClassVar[EdgeList] = FOLLOWERS_LIST
    own: ClassVar[EdgeList] = OWN_FOLLOWERS_LIST
    can_be_hidden: ClassVar[bool] = True

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
        return self.answer_page(request, account_id, page)

    def answer_page(
        self, request: ApiRequest, account_id: int, page: Page[ListedAccount]
    ) -> HttpResponse:
        """Raises: AccountNotFound."""
        shown = [*(listed.account_id for listed in page.items), account_id]
        accounts = load_accounts_for(shown, request.viewer_id)
        if account_id not in accounts:
            raise AccountNotFound
        is_hidden = self.can_be_hidden and hides_collections(accounts[account_id])
        if is_hidden and not request.is_from(account_id):
            page = Page([], None, None)
        return _answer(request, page, accounts)


class FollowingView(FollowersView):
    """Followees of an account, newest first. Only the account itself sees its quiet follows.

    The list is empty for others if the account hides its collections.
    """

    shown = FOLLOWING_LIST
    own = OWN_FOLLOWING_LIST

    def answer(self, request: ApiRequest, account_id: int) -> HttpResponse:
        if request.is_from(account_id):
            return super().answer(request, account_id)
        whole = find_big_following(account_id)
        if whole is None:
            return self.answer_page(request, account_id, read_page(request, self.shown, account_id))
        page = cut_page(read_list_window(request), whole.below, whole.above)
        return self.answer_page(request, account_id, page)


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


class FollowRequestsView(QuietFollowingView):
    """Accounts that asked to follow me and await my approval, newest first."""

    edge_list = REQUESTS_LIST


class SpecialFollowingView(QuietFollowingView):
    """Accounts I marked as special, newest follow first."""

    edge_list = SPECIAL_LIST


class EndorsementsView(QuietFollowingView):
    """Accounts that I show on my profile, newest follow first."""

    scopes = {"GET": "read:accounts"}
    edge_list = OWN_ENDORSED_LIST


class EndorsedAccountsView(FollowersView):
    """Accounts that an account shows on its profile. Only itself sees its quiet follows there."""

    is_quick = False  # it always reads a shard
    shown = ENDORSED_LIST
    own = OWN_ENDORSED_LIST
    can_be_hidden = False


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
        accounts, ends = load_accounts_for(ids, owner_id), read_mute_ends(owner_id, ids)
        bodies = [present_muted(accounts[i], ends[i]) for i in ids if i in accounts]
        return page_response(request, Page(bodies, page.older, page.newer))


def read_page(request: ApiRequest, edge_list: EdgeList, account_id: int) -> Page[ListedAccount]:
    """The requested page of a list. Raises InvalidRequest, InvalidCursor."""
    return list_page(edge_list, account_id, read_list_window(request))


def read_list_window(request: ApiRequest) -> Window:
    """The part of a list that is requested. Raises InvalidRequest, InvalidCursor."""
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(request.query_params, limit, sum(CURSOR_DIGITS))


def answer_accounts(request: ApiRequest, page: Page[ListedAccount]) -> HttpResponse:
    """The answer with a page of accounts."""
    ids = [listed.account_id for listed in page.items]
    return _answer(request, page, load_accounts_for(ids, request.viewer_id))


def _answer(
    request: ApiRequest, page: Page[ListedAccount], accounts: Mapping[int, bytes]
) -> HttpResponse:
    bodies = [accounts[i.account_id] for i in page.items if i.account_id in accounts]
    return page_response(request, Page(bodies, page.older, page.newer))
