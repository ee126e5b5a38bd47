"""Pages of who follows and who is followed."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import Account
from accounts.queries.load import load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response, read_window
from infra.api.parameters import PAGING
from infra.api.parsing import read_limit
from infra.api.request import ApiRequest
from relations.queries.lists import FOLLOWERS_LIST, FOLLOWING_LIST, EdgeList, list_page

DEFAULT_LIMIT, MOST = 40, 80


class FollowersView(Endpoint):
    """Who follows an account, newest first."""

    scopes = {"GET": "read:accounts"}
    public = True
    edge_list: EdgeList = FOLLOWERS_LIST

    @extend_schema(parameters=PAGING, responses=Account(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        page = list_page(self.edge_list, account_id, read_window(request.query_params, limit))
        accounts = load_account_json(listed.account_id for listed in page.items)
        bodies = [accounts[i.account_id] for i in page.items if i.account_id in accounts]
        return page_response(request, Page(bodies, page.older, page.newer))


class FollowingView(FollowersView):
    """Whom an account follows, newest first."""

    edge_list = FOLLOWING_LIST
