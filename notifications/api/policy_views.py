"""The owner's policy over HTTP: what becomes of notifications of accounts one may not know."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra import clock
from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from notifications.actions.policy import change_policy
from notifications.api import schema
from notifications.api.parse import read_measures, read_measures_v1
from notifications.api.present import present_policy, present_policy_v1
from notifications.api.views import READ, WRITE
from notifications.queries.requests import PendingRequests, count_pending, read_policy
from notifications.types import Measure, Policy


class PolicyView(Endpoint):
    """My policy for notifications."""

    scopes = {"GET": READ, "PATCH": WRITE, "PUT": WRITE}

    @extend_schema(responses=schema.NotificationPolicyEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return self._answer(request.account_id)

    @extend_schema(request=schema.NotificationPolicyBody, responses=schema.NotificationPolicyEntity)
    def patch(self, request: ApiRequest) -> HttpResponse:
        """Changes the measures that are sent. They hold for notifications of the past, too."""
        change_policy(request.account_id, self.read(request.data))
        return self._answer(request.account_id)

    @extend_schema(exclude=True)
    def put(self, request: ApiRequest) -> HttpResponse:
        """As PATCH. Some libraries of Mastodon clients send this."""
        return self.patch(request)

    @beginning_again
    def _answer(self, owner_id: int) -> HttpResponse:
        pending = count_pending(owner_id, clock.now_ms())
        return json_response(orjson.dumps(self.present(read_policy(owner_id), pending)))

    def read(self, data: Mapping[str, Any]) -> Mapping[str, Measure]:
        return read_measures(data)

    def present(self, policy: Policy, pending: PendingRequests) -> dict[str, object]:
        return present_policy(policy, pending)


class PolicyV1View(PolicyView):
    """My policy for notifications, as in Mastodon 4.2: what is filtered."""

    @extend_schema(responses=schema.NotificationPolicyV1Entity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return super().get(request)

    @extend_schema(
        request=schema.NotificationPolicyV1Body, responses=schema.NotificationPolicyV1Entity
    )
    def patch(self, request: ApiRequest) -> HttpResponse:
        """Changes what is sent: true filters, false accepts."""
        return super().patch(request)

    def read(self, data: Mapping[str, Any]) -> Mapping[str, Measure]:
        return read_measures_v1(data)

    def present(self, policy: Policy, pending: PendingRequests) -> dict[str, object]:
        return present_policy_v1(policy, pending)
