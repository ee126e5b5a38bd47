"""Pages of edge lists: followers, followees, blocked and muted accounts. How long own ones are."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from accounts.encode import hides_collections
from accounts.errors import AccountNotFound
from accounts.queries.load import load_account_json, require_account
from counters.kinds import CounterKind
from counters.queries.counts import load_counts
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, Window, page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.remembered_answers import remembered
from infra.clock import now_ms
from relations.api.present import present_muted
from relations.api.schema import MutedAccountEntity, RelationCountsEntity
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
    BeforeLoad,
    EdgeList,
    ListReads,
    reads_of,
)
from relations.queries.edge_rows import muted_at, read_mute_ends
from relations.queries.own_followers import with_own_follow
from relations.queries.shown_lists import Show, cut_shown, list_shown, load_for_others

DEFAULT_LIMIT, MOST = 40, 80
COUNTS = {
    "followers_count": CounterKind.FOLLOWERS,
    "quiet_followers_count": CounterKind.QUIET_FOLLOWERS,
    "following_count": CounterKind.FOLLOWING,
    "quiet_following_count": CounterKind.QUIET_FOLLOWING,
    "blocked_count": CounterKind.BLOCKED,
}


class ListHidden(Exception):
    """The owner shows the list to no other account."""


class FollowersView(Endpoint):
    """Followers of an account, newest first. Only the account itself sees its quiet followers.

    The list is empty for others if the account hides its collections.
    """

    scopes = {"GET": "read:accounts"}
    public = True
    is_quick = True
    shown: ClassVar[EdgeList] = FOLLOWERS_LIST
    own: ClassVar[EdgeList] = OWN_FOLLOWERS_LIST
    can_be_hidden: ClassVar[bool] = True

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=AccountEntity(many=True))
    @remembered
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        return self.answer(request, account_id)

    def answer(self, request: ApiRequest, account_id: int) -> HttpResponse:
        """The requested page, as the caller may see it.

        Raises: AccountNotFound, before a shard is read for an account that is not shown.
        """
        check = partial(require_account, account_id)
        if request.is_from(account_id):
            show = load_account_json
            return answer_list(request, self.own, account_id, show, check)
        reads = reads_of(self.shown, account_id, check)
        if self.shown is FOLLOWERS_LIST:
            reads = with_own_follow(reads, account_id, request.viewer_id)
        return self.answer_others(request, account_id, reads)

    def answer_others(self, request: ApiRequest, account_id: int, reads: ListReads) -> HttpResponse:
        """Raises: AccountNotFound."""

        def show(ids: Sequence[int]) -> Mapping[int, bytes]:
            accounts = load_with_owner(account_id, ids, request.viewer_id)
            if self.can_be_hidden and hides_collections(accounts[account_id]):
                raise ListHidden
            return accounts

        try:
            return page_response(request, cut_shown(read_list_window(request), reads, show))
        except ListHidden:
            return page_response(request, Page([], None, None))


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
        reads = (
            ListReads(whole.below, whole.above)
            if whole is not None
            else reads_of(self.shown, account_id)
        )
        return self.answer_others(request, account_id, reads)


class QuietFollowingView(Endpoint):
    """Accounts I follow quietly, newest first."""

    scopes = {"GET": "read:follows"}
    edge_list: ClassVar[EdgeList] = QUIET_LIST

    @extend_schema(parameters=paging(sum(CURSOR_DIGITS)), responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return answer_own_list(request, self.edge_list)


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
        show = partial(_show_muted, request.account_id)
        return answer_list(request, EdgeList(muted_at(now_ms())), request.account_id, show)


class RelationCountsView(Endpoint):
    """How many accounts are on each of my lists: followers, follows, quiet ones, and blocks.

    All counts are of one moment.
    """

    scopes = {"GET": "read:follows"}

    @extend_schema(responses=RelationCountsEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        counts = load_counts([request.account_id], [*COUNTS.values()])[request.account_id]
        body: dict[str, int | None] = {name: counts[kind].value for name, kind in COUNTS.items()}
        if "read:blocks" not in request.user.scopes:
            body["blocked_count"] = None
        return json_response(orjson.dumps(body))


def _show_muted(owner_id: int, ids: Sequence[int]) -> dict[int, bytes]:
    accounts, ends = load_account_json(ids), read_mute_ends(owner_id, ids)
    return {i: present_muted(account, ends[i]) for i, account in accounts.items()}


def load_with_owner(owner_id: int, ids: Sequence[int], viewer_id: int | None) -> dict[int, bytes]:
    """Accounts of a list that is not the viewer's own, and its owner, also if the owner and the
    viewer block each other. Raises: AccountNotFound without the owner.
    """
    accounts = load_for_others([*ids, owner_id], viewer_id, kept=owner_id)
    if owner_id not in accounts:
        raise AccountNotFound
    return accounts


def read_list_window(request: ApiRequest) -> Window:
    """The part of a list that is requested. Raises InvalidRequest, InvalidCursor."""
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return read_window(request.query_params, limit, sum(CURSOR_DIGITS))


def answer_own_list(request: ApiRequest, edge_list: EdgeList) -> HttpResponse:
    """The requested page of a list of the caller's own. Raises: InvalidRequest, InvalidCursor."""
    show = load_account_json
    return answer_list(request, edge_list, request.account_id, show)


def answer_list(
    request: ApiRequest,
    edge_list: EdgeList,
    owner_id: int,
    show: Show,
    before_load: BeforeLoad = lambda: None,
) -> HttpResponse:
    """The requested page of a list. Raises: InvalidRequest, InvalidCursor."""
    window = read_list_window(request)
    return page_response(request, list_shown(edge_list, owner_id, window, show, before_load))
