"""Follow, unfollow, remove a follower; the two lists; what lies between accounts."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import Account
from accounts.queries.load import find_existing, load_account_json, require_account
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.ids import parse_account_id
from infra.api.pages import Page, page_response, read_window
from infra.api.parameters import PAGING
from infra.api.parsing import read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from relations.actions.follow import follow, remove_follower, unfollow
from relations.api import schema
from relations.api.present import present_relationship, present_relationships
from relations.queries.lists import FOLLOWERS_LIST, FOLLOWING_LIST, EdgeList, list_page
from relations.queries.relationships import load_relationships

DEFAULT_LIMIT, MOST = 40, 80
MOST_TARGETS = 100


class FollowView(Endpoint):
    """Follow an account; doing it twice is once."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.Relationship)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        follow(request.account_id, account_id)
        return _answer_relationship(request, account_id)


class UnfollowView(Endpoint):
    """End following an account."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.Relationship)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        unfollow(request.account_id, account_id)
        return _answer_relationship(request, account_id)


class RemoveFollowerView(Endpoint):
    """End an account's following me."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.Relationship)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account(account_id)
        remove_follower(request.account_id, account_id)
        return _answer_relationship(request, account_id)


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


class RelationshipsView(Endpoint):
    """What lies between me and up to 100 accounts, in the order asked, each once.

    Ids that name no account are left out.
    """

    scopes = {"GET": "read:follows"}

    @extend_schema(parameters=[schema.ID_LIST], responses=schema.Relationship(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        texts = request.query_params.getlist("id[]") or request.query_params.getlist("id")
        if len(texts) > MOST_TARGETS:
            raise InvalidRequest(f"At most {MOST_TARGETS} accounts at once")
        asked = map(parse_account_id, texts)
        others = list(dict.fromkeys(account_id for account_id in asked if account_id))
        known = find_existing(others)
        wanted = [other for other in others if other in known]
        found = load_relationships(request.account_id, wanted)
        return json_response(present_relationships(found))


def _answer_relationship(request: ApiRequest, account_id: int) -> HttpResponse:
    (relationship,) = load_relationships(request.account_id, [account_id])
    return json_response(present_relationship(relationship))
