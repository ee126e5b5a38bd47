"""Follow, unfollow, remove a follower."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.parsing import find_flag
from infra.api.request import ApiRequest
from relations.actions.follow import follow, remove_follower, unfollow
from relations.api import schema
from relations.api.views.relationships import answer_relationship
from relations.types import FollowOptions


class FollowView(Endpoint):
    """Follow an account, or change the options of a follow. Options that are not sent stay."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=schema.FollowOptionsBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        follow(request.account_id, account_id, _options(request))
        return answer_relationship(request, account_id)


class UnfollowView(Endpoint):
    """Unfollow an account."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        unfollow(request.account_id, account_id)
        return answer_relationship(request, account_id)


class RemoveFollowerView(Endpoint):
    """Remove an account from my followers."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        remove_follower(request.account_id, account_id)
        return answer_relationship(request, account_id)


def _options(request: ApiRequest) -> FollowOptions:
    return FollowOptions(
        quiet=find_flag(request.data, "quiet"),
        special=find_flag(request.data, "special"),
        reposts=find_flag(request.data, "reblogs"),
        notify=find_flag(request.data, "notify"),
    )
