"""Webhooks: where events of the change feed are sent to."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement
from integrations.types import WebhookState

LONGEST_URL = 2_000


class Webhook(models.Model):
    """GLOBAL, a few rows; written by integrations.webhooks.rows.

    `types`: of events; empty: all. `sealed_secret`: signs the messages; `sealed_old_secret` does
    too until `old_until`. `position`: up to where all events were sent. `claimed_until`: a process
    sends them, with this `token`. `failures`: in a row, since `failing_since`.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    url = models.CharField(max_length=LONGEST_URL)
    types = models.JSONField(default=list)
    sealed_secret = models.BinaryField()
    sealed_old_secret = models.BinaryField(null=True)
    old_until = models.DateTimeField(null=True)
    position = models.TextField()
    state = models.SmallIntegerField(choices=WebhookState, default=WebhookState.ACTIVE)
    token = models.BigIntegerField(default=0, db_default=0)
    claimed_until = models.DateTimeField(db_default=Now())
    failures = models.IntegerField(default=0, db_default=0)
    failing_since = models.DateTimeField(null=True)
    next_attempt_at = models.DateTimeField(db_default=Now())
    error = models.TextField(default="", db_default="", blank=True)
    complete_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"webhook {self.pk} to {self.url}"
