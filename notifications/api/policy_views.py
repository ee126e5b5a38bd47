"""The owner's policy over HTTP: what becomes of notifications of accounts one may not know.

Requests over HTTP: accounts whose notifications my policy filters. Their id is the account's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra import clock
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response, paging
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from notifications.actions.policy import accept_requests, change_policy, dismiss_requests
from notifications.api import schema
from notifications.api.parse import (
    read_measures,
    read_measures_v1,
    read_page_window,
    read_request_ids,
)
from notifications.api.present import present_policy, present_policy_v1, present_request
from notifications.api.views import NOTHING, READ, WRITE
from notifications.errors import NotificationNotFound
from notifications.queries.requests import (
    PendingRequests,
    count_pending,
    find_request,
    list_requests,
    read_policy,
)
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


class NotificationRequestsView(Endpoint):
    """The accounts whose notifications my policy filters."""

    scopes = {"GET": READ}

    @extend_schema(parameters=paging(0), responses=schema.NotificationRequestEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        window = read_page_window(request)
        page = list_requests(request.account_id, window, clock.now_ms())
        items = [present_request(item) for item in page.items]
        return page_response(request, Page(items, page.older, page.newer))


class NotificationRequestView(Endpoint):
    """The filtered notifications of one account."""

    scopes = {"GET": READ}

    @extend_schema(responses=schema.NotificationRequestEntity)
    def get(self, request: ApiRequest, account_id: int) -> HttpResponse:
        pending = find_request(request.account_id, account_id, clock.now_ms())
        if pending is None:
            raise NotificationNotFound
        return json_response(present_request(pending))


class AcceptRequestView(Endpoint):
    """Show the notifications of this account from now on, those of the past too."""

    scopes = {"POST": WRITE}

    @extend_schema(request=None, responses=schema.NothingEntity)
    def post(self, request: ApiRequest, account_id: int) -> HttpResponse:
        self.act(request.account_id, [account_id])
        return json_response(NOTHING)

    def act(self, owner_id: int, from_ids: Sequence[int]) -> None:
        accept_requests(owner_id, from_ids)


class DismissRequestView(AcceptRequestView):
    """Remove the filtered notifications of this account."""

    def act(self, owner_id: int, from_ids: Sequence[int]) -> None:
        dismiss_requests(owner_id, from_ids, clock.now_ms())


class AcceptRequestsView(Endpoint):
    """Show the notifications of these accounts from now on, those of the past too."""

    scopes = {"POST": WRITE}
    operation_suffix = "_many"

    @extend_schema(request=schema.RequestIdsBody, responses=schema.NothingEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        self.act(request.account_id, read_request_ids(request.data))
        return json_response(NOTHING)

    def act(self, owner_id: int, from_ids: Sequence[int]) -> None:
        accept_requests(owner_id, from_ids)


class DismissRequestsView(AcceptRequestsView):
    """Remove the filtered notifications of these accounts."""

    def act(self, owner_id: int, from_ids: Sequence[int]) -> None:
        dismiss_requests(owner_id, from_ids, clock.now_ms())


class MergedView(Endpoint):
    """Whether the notifications of accepted requests are in my list: always, at the next read."""

    scopes = {"GET": READ}

    @extend_schema(responses=schema.MergedEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(b'{"merged":true}')
