"""Endpoints that read a poll and vote on it. A poll has the id of its post."""

import time

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from posts.actions.check_poll import read_choices
from posts.actions.vote import vote
from posts.api import schema
from posts.ids import PostId
from posts.queries.polls import get_poll
from posts.reading.statuses import get_original


class PollView(Endpoint):
    """One poll."""

    scopes = {"GET": "read:statuses"}
    public = True

    @extend_schema(responses=schema.PollEntity)
    def get(self, request: ApiRequest, poll_id: PostId) -> HttpResponse:
        return _answer(poll_id, request.viewer_id)


class VotesView(Endpoint):
    """Vote on a poll, once."""

    scopes = {"POST": "write:statuses"}

    @extend_schema(request=schema.VotesBody, responses=schema.PollEntity)
    def post(self, request: ApiRequest, poll_id: PostId) -> HttpResponse:
        choices = read_choices(request.data)
        original = get_original(poll_id, request.account_id)
        vote(request.account_id, original, choices)
        return _answer(original, request.account_id)


@beginning_again
def _answer(poll_id: PostId, viewer_id: int | None) -> HttpResponse:
    original = get_original(poll_id, viewer_id)
    return json_response(orjson.dumps(get_poll(original, viewer_id, time.time())))
