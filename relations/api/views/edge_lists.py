"""Pages of who follows and who is followed, as others or the account itself see them."""

from typing import ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from accounts.queries.load import load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response, read_window
from infra.api.parameters import PAGING
from infra.api.parsing import read_limit
from infra.api.request import ApiRequest
from relations.queries.edge_lists import (
    BLOCKS_LIST,
    FOLLOWERS_LIST,
    FOLLOWING_LIST,
    OWN_FOLLOWERS_LIST,
    OWN_FOLLOWING_LIST,
    QUIET_LIST,
    SPECIAL_LIST,
    EdgeList,
    list_page,
)
from relations.types import ListedAccount

DEFAULT_LIMIT, MOST = 40, 80


class FollowersView(Endpoint):
    """Who follows an account, newest first; those who do so quietly only it sees itself."""

    scopes = {"GET": "read:accounts"}
    public = True
    shown: ClassVar[EdgeList] = FOLLOWERS_LIST
    own: ClassVar[EdgeList] = OWN_FOLLOWERS_LIST

    @extend_schema(parameters=PAGING, responses=AccountEntity(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        edge_list = self.own if request.is_from(account_id) else self.shown
        return answer_accounts(request, read_page(request, edge_list, account_id))


class FollowingView(FollowersView):
    """Whom an account follows, newest first; whom it follows quietly only it sees itself."""

    shown = FOLLOWING_LIST
    own = OWN_FOLLOWING_LIST


class QuietFollowingView(Endpoint):
    """Whom I follow quietly, newest first."""

    scopes = {"GET": "read:follows"}
    edge_list: ClassVar[EdgeList] = QUIET_LIST

    @extend_schema(parameters=PAGING, responses=AccountEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        return answer_accounts(request, read_page(request, self.edge_list, request.account_id))


class SpecialFollowingView(QuietFollowingView):
    """Whom I marked as special, newest follow first."""

    edge_list = SPECIAL_LIST


class BlocksView(QuietFollowingView):
    """Whom I block, newest first."""

    scopes = {"GET": "read:blocks"}
    edge_list = BLOCKS_LIST


def read_page(request: ApiRequest, edge_list: EdgeList, account_id: int) -> Page[ListedAccount]:
    """The page of a list that a request asks for. Raises InvalidRequest, InvalidCursor."""
    limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
    return list_page(edge_list, account_id, read_window(request.query_params, limit))


def answer_accounts(request: ApiRequest, page: Page[ListedAccount]) -> HttpResponse:
    """A page as Account entities."""
    accounts = load_account_json(listed.account_id for listed in page.items)
    bodies = [accounts[i.account_id] for i in page.items if i.account_id in accounts]
    return page_response(request, Page(bodies, page.older, page.newer))
