"""Endpoints for the author of a post that others quote, or may quote."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.errors import NotAllowed
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.actions.check_quote import POLICY as QUOTES
from posts.actions.check_quote import find_quote_policy
from posts.actions.check_reply import POLICY as REPLIES
from posts.actions.check_reply import find_reply_policy
from posts.actions.revoke_quote import revoke_quote
from posts.actions.set_policies import set_policies
from posts.api import schema
from posts.api.quote_schema import PolicyBody
from posts.errors import InvalidDraft
from posts.ids import PostId
from posts.queries.interactions import get_interaction_json
from posts.reading.statuses import get_original


class RevokeQuoteView(Endpoint):
    """Take your post out of a post that quotes it, for good. Answers with the quoting post."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=None, responses=schema.StatusEntity)
    def post(self, request: ApiRequest, status_id: PostId, quoting_id: PostId) -> HttpResponse:
        _check_own(status_id, request.account_id)
        revoke_quote(quoting_id, status_id)
        return json_response(get_interaction_json(request.account_id, quoting_id, quoting_id))


class InteractionPolicyView(Endpoint):
    """Change who may quote your post, or reply to it. Posts that do stay."""

    scopes = {"PUT": "write:statuses"}

    @extend_schema(request=PolicyBody, responses=schema.StatusEntity)
    def put(self, request: ApiRequest, status_id: PostId) -> HttpResponse:
        _check_own(status_id, request.account_id)
        policies = find_quote_policy(request.data), find_reply_policy(request.data)
        if policies == (None, None):
            raise InvalidDraft(f"Validation failed: {QUOTES} or {REPLIES} is missing")
        set_policies(status_id, *policies)
        return json_response(get_interaction_json(request.account_id, status_id, status_id))


def _check_own(post_id: PostId, account_id: int) -> None:
    """Raises: PostNotFound for posts that the account may not see; NotAllowed for those of others
    that it sees."""
    if post_id.author_id != account_id:
        get_original(post_id, account_id)
        raise NotAllowed
