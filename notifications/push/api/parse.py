"""Parses requests about subscriptions."""

from collections.abc import Mapping
from typing import Any

from infra.api.errors import InvalidRequest
from infra.api.nested import find_object
from infra.api.parsing import read_flag, read_text
from infra.outgoing.addresses import is_endpoint
from notifications.push.message import is_public_key, is_secret
from notifications.push.models import LONGEST_ENDPOINT, LONGEST_KEY
from notifications.push.types import (
    ALERTS,
    AUDIENCE_BY_NAME,
    PushAudience,
    PushTarget,
    PushWishes,
    alert_bits,
)


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
