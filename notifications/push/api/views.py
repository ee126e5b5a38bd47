"""Subscriptions to Web Push over HTTP. Each access token has at most one."""

from collections.abc import Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.vapid import vapid_public_key
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.nested import find_object
from infra.api.parsing import read_flag, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from infra.outgoing.addresses import is_endpoint
from infra.sealing import seal
from notifications.api.schema import NothingEntity
from notifications.errors import NotificationNotFound
from notifications.push.api import schema
from notifications.push.message import is_public_key, is_secret
from notifications.push.models import LONGEST_ENDPOINT, LONGEST_KEY
from notifications.push.rows import (
    change_wishes,
    delete_subscriptions,
    find_subscription,
    write_subscription,
)
from notifications.push.types import (
    ALERTS,
    AUDIENCE_BY_NAME,
    TOKENS,
    PushAudience,
    PushTarget,
    PushWishes,
    Subscription,
    alert_bits,
)

SCOPE = "push"


class SubscriptionView(Endpoint):
    """My subscription to Web Push, of this token."""

    scopes = dict.fromkeys(("GET", "POST", "PUT", "DELETE"), SCOPE)

    @extend_schema(responses={200: schema.WebPushSubscriptionEntity, 404: schema.NO_SUBSCRIPTION})
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(request)

    @extend_schema(
        request=schema.NewPushSubscriptionBody, responses=schema.WebPushSubscriptionEntity
    )
    def post(self, request: ApiRequest) -> HttpResponse:
        """Subscribes. It replaces the subscription that the token had."""
        if not vapid_public_key():
            raise InvalidRequest("Web Push is off on this server")
        target, wishes = read_target(request.data), read_wishes(request.data)
        token = request.headers["Authorization"].partition(" ")[2].strip()
        account_id, token_id = request.account_id, request.user.token_id
        write_subscription(Subscription(account_id, token_id, target, wishes, seal(TOKENS, token)))
        return _answer(request)

    @extend_schema(
        request=schema.PushSubscriptionChangeBody,
        responses={200: schema.WebPushSubscriptionEntity, 404: schema.NO_SUBSCRIPTION},
    )
    def put(self, request: ApiRequest) -> HttpResponse:
        """Changes what is pushed. Alerts that are not sent are off."""
        change_wishes(request.account_id, request.user.token_id, read_wishes(request.data))
        return _answer(request)

    @extend_schema(responses={200: NothingEntity})
    def delete(self, request: ApiRequest) -> HttpResponse:
        """Ends the subscription, if there is one."""
        delete_subscriptions(request.account_id, [request.user.token_id])
        return json_response(b"{}")


@beginning_again
def _answer(request: ApiRequest) -> HttpResponse:
    """The subscription of the token. Raises: NotificationNotFound."""
    subscription = find_subscription(request.account_id, request.user.token_id)
    if subscription is None:
        raise NotificationNotFound
    entity = {
        "id": str(subscription.token_id),
        "endpoint": subscription.target.endpoint,
        "standard": subscription.target.is_standard,
        "alerts": {name: subscription.wishes.wants(name) for name in ALERTS},
        "policy": subscription.wishes.audience.public,
        "server_key": vapid_public_key(),
    }
    return json_response(orjson.dumps(entity))


def read_target(data: Mapping[str, Any]) -> PushTarget:
    """Raises: InvalidRequest."""
    sent, keys = _part(data, "subscription"), _part(data, "subscription", "keys")
    endpoint = read_text(sent, "endpoint")
    if len(endpoint) > LONGEST_ENDPOINT or not is_endpoint(endpoint):
        raise InvalidRequest("subscription[endpoint] is not an address of a push service")
    p256dh, auth = read_text(keys, "p256dh"), read_text(keys, "auth")
    if len(p256dh) > LONGEST_KEY or not is_public_key(p256dh):
        raise InvalidRequest("subscription[keys][p256dh] is not a public key of P-256")
    if len(auth) > LONGEST_KEY or not is_secret(auth):
        raise InvalidRequest("subscription[keys][auth] is not a secret of 16 bytes")
    return PushTarget(endpoint, p256dh, auth, read_flag(sent, "standard"))


def read_wishes(data: Mapping[str, Any]) -> PushWishes:
    """Alerts that are not sent are off. Raises: InvalidRequest."""
    alerts = _part(data, "data", "alerts")
    wanted = [name for name in ALERTS if read_flag(alerts, name)]
    policy = read_text(_part(data, "data"), "policy") or read_text(data, "policy")
    if policy and policy not in AUDIENCE_BY_NAME:
        raise InvalidRequest(f"data[policy] must be one of {', '.join(AUDIENCE_BY_NAME)}")
    return PushWishes(alert_bits(wanted), AUDIENCE_BY_NAME.get(policy, PushAudience.ALL))


def _part(data: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The object below these names, empty if there is none. Raises: InvalidRequest."""
    for name in names:
        data = find_object(data, name) or {}
    return data
