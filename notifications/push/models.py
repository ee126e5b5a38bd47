"""Subscriptions to Web Push: where the notifications of an account are sent to."""

from django.db import models

from infra.sharding.models import ShardedModel
from notifications.push.types import PushAudience

AUDIENCES = [(audience.value, audience.name) for audience in PushAudience]
LONGEST_ENDPOINT = 2_000
LONGEST_KEY = 100


class PushSubscription(ShardedModel):
    """SHARDED by account_id, at most one row for each access token; written by push.rows.

    `p256dh`, `auth`: the receiver's keys, in base64. `is_standard`: messages are encrypted as in
    RFC 8291, else as in its draft, which Mastodon's older clients expect. `alerts`: a bit for each
    of push.types.ALERTS. `sealed_token`: the token, encrypted (infra/sealing.py).
    """

    owner = "account_id"

    pk = models.CompositePrimaryKey("account_id", "token_id")
    account_id = models.BigIntegerField()
    token_id = models.BigIntegerField()
    endpoint = models.CharField(max_length=LONGEST_ENDPOINT)
    p256dh = models.CharField(max_length=LONGEST_KEY)
    auth = models.CharField(max_length=LONGEST_KEY)
    is_standard = models.BooleanField()
    alerts = models.IntegerField()
    audience = models.SmallIntegerField(choices=AUDIENCES)
    sealed_token = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.account_id} by token {self.token_id}"
