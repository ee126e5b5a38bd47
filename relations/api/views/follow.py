"""Follow, unfollow, answer a follow request, remove a follower."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import require_account_row
from infra.api.endpoint import Endpoint
from infra.api.nested import find_texts
from infra.api.parsing import find_flag
from infra.api.request import ApiRequest
from relations.actions.follow import (
    approve_request,
    follow,
    reject_request,
    remove_follower,
    unfollow,
)
from relations.api import schema
from relations.api.views.relationships import answer_relationship
from relations.languages import check_languages
from relations.types import FollowOptions


class FollowView(Endpoint):
    """Follow an account, or change the options of a follow. Options that are not sent stay.

    A locked account must approve the follow first: `requested` is true until then.
    """

    scopes = {"POST": "write:follows"}

    @extend_schema(request=schema.FollowOptionsBody, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        follow(request.account_id, account_id, _options(request))
        return answer_relationship(request, account_id)


class UnfollowView(Endpoint):
    """Unfollow an account, or take a follow request back."""

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


class AuthorizeRequestView(Endpoint):
    """Approve a follow request."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        approve_request(request.account_id, account_id)
        return answer_relationship(request, account_id)


class RejectRequestView(Endpoint):
    """Reject a follow request. The account may ask again."""

    scopes = {"POST": "write:follows"}

    @extend_schema(request=None, responses=schema.RelationshipEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        require_account_row(account_id)
        reject_request(request.account_id, account_id)
        return answer_relationship(request, account_id)


def _options(request: ApiRequest) -> FollowOptions:
    """Raises: InvalidRequest, ValidationFailed."""
    languages = find_texts(request.data, "languages")
    return FollowOptions(
        quiet=find_flag(request.data, "quiet"),
        special=find_flag(request.data, "special"),
        reposts=find_flag(request.data, "reblogs"),
        notify=find_flag(request.data, "notify"),
        languages=None if languages is None else check_languages(filter(None, languages)),
    )
