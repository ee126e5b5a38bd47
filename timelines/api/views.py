"""Home and author timelines."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account
from infra.api.endpoint import Endpoint
from infra.api.pages import page_response, read_window
from infra.api.parameters import PAGING
from infra.api.parsing import read_flag, read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import Status
from timelines.queries.author import author_page
from timelines.queries.home import home_page

DEFAULT_LIMIT, MOST = 20, 40
# Clients ask for these apart; no post is pinned or has media.
NEVER = ("pinned", "only_media")


class HomeView(Endpoint):
    """Posts of those I follow, and my own, newest first."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(parameters=PAGING, responses=Status(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        window = read_window(request.query_params, limit)
        return page_response(request, home_page(request.account_id, window))


class AuthorView(Endpoint):
    """One account's posts, newest first."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(parameters=PAGING, responses=Status(many=True))
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        if any(read_flag(request.query_params.get(name), False) for name in NEVER):
            return json_response(b"[]")
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        return page_response(
            request, author_page(account_id, read_window(request.query_params, limit))
        )
