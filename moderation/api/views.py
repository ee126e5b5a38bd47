"""Endpoints for reports, and for the strikes against one's own account."""

from collections.abc import Mapping

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.queries.load import get_account_json
from infra.api.endpoint import Endpoint
from infra.api.pages import page_response, paging, read_window
from infra.api.parsing import read_limit
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from moderation.actions.appeals import file_appeal
from moderation.actions.reports import file_report
from moderation.api import schema
from moderation.api.parse import read_appeal, read_report
from moderation.api.present import present_report, present_strike
from moderation.queries.decisions import list_strikes
from posts.ids import PostId
from posts.queries.moderated import ModeratedPost, load_moderated_posts

DEFAULT_LIMIT, MOST = 20, 40
NUMBERS = 0  # cursors of strikes are their ids


class ReportsView(Endpoint):
    """Report an account, and some of its posts, to the moderators."""

    scopes = {"POST": "write:reports"}

    @extend_schema(
        request=schema.ReportBody,
        responses={200: schema.ReportEntity, 404: schema.NO_ACCOUNT},
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        report = file_report(request.account_id, read_report(request.data))
        account = beginning_again(get_account_json)(report.account_id)
        return json_response(present_report(report, account))


class StrikesView(Endpoint):
    """The moderators' decisions on my account and my posts, newest first."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(parameters=paging(NUMBERS), responses=schema.StrikeEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        page = list_strikes(request.account_id, read_window(request.query_params, limit, NUMBERS))
        account = get_account_json(request.account_id, is_own=True)
        posts = load_moderated_posts(
            request.account_id, [decision.post for decision, _ in page.items if decision.post]
        )
        bodies = [
            present_strike(decision, appeal, account, _text_of(posts, decision.post))
            for decision, appeal in page.items
        ]
        return page_response(request, page._replace(items=bodies))  # type: ignore[arg-type]


def _text_of(posts: Mapping[PostId, ModeratedPost], post_id: PostId | None) -> str:
    """Empty for a deleted post, and for a decision on an account."""
    post = posts.get(post_id) if post_id else None
    return post.versions[0].text if post and post.deleted_at is None else ""


class AppealView(Endpoint):
    """Appeal against a decision; possible once. Frozen accounts may appeal too."""

    scopes = {"POST": "write:accounts"}
    for_frozen = True

    @extend_schema(request=schema.AppealBody, responses=schema.StrikeEntity)
    def post(self, request: ApiRequest, strike_id: int) -> HttpResponse:
        appeal = file_appeal(request.account_id, strike_id, read_appeal(request.data))
        account = beginning_again(get_account_json)(request.account_id, is_own=True)
        return json_response(present_strike(appeal.decision, appeal, account))
