"""The requests and answers of Web Push, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DictField,
    Serializer,
)

from infra.api.fields import OPTIONAL, FlagField
from infra.api.openapi import error_response
from notifications.push.models import LONGEST_ENDPOINT, LONGEST_KEY
from notifications.push.types import ALERTS, AUDIENCE_BY_NAME

AUDIENCES = list(AUDIENCE_BY_NAME)
NO_SUBSCRIPTION = error_response("The token has no subscription")


class WebPushSubscriptionEntity(Serializer[Any]):
    id = CharField()
    endpoint = CharField()
    standard = BooleanField()
    alerts = DictField(child=BooleanField(), help_text=", ".join(ALERTS))
    policy = ChoiceField(AUDIENCES)
    server_key = CharField()


class PushKeysBody(Serializer[Any]):
    p256dh = CharField(max_length=LONGEST_KEY, help_text="A public key of P-256, in base64")
    auth = CharField(max_length=LONGEST_KEY, help_text="A secret of 16 bytes, in base64")


class PushTargetBody(Serializer[Any]):
    endpoint = CharField(max_length=LONGEST_ENDPOINT, help_text="An https address")
    keys = PushKeysBody()
    standard = FlagField(help_text="Encrypt as in RFC 8291, not as in its draft", **OPTIONAL)


class PushWishesBody(Serializer[Any]):
    alerts = DictField(child=FlagField(), help_text="By type; absent ones are off", **OPTIONAL)
    policy = ChoiceField(AUDIENCES, **OPTIONAL)


class NewPushSubscriptionBody(Serializer[Any]):
    subscription = PushTargetBody()
    data = PushWishesBody(**OPTIONAL)  # type: ignore[assignment]


class PushSubscriptionChangeBody(Serializer[Any]):
    data = PushWishesBody(**OPTIONAL)  # type: ignore[assignment]
