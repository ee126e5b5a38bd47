"""The tables in the product's own database: what Tideline has to learn, and what it has said."""

from typing import ClassVar

from django.db import models
from django.utils.timezone import now


class AccountSync(models.Model):
    """A user's account at Tideline: which one it is, and whether it has to be sent.

    A row for each user that was ever saved; it stays when the user is deleted. `outbox` writes it
    in the transaction of the user, and `sync_tideline` sends it.
    """

    # The user's primary key as a text: the external id at Tideline.
    external_id = models.CharField(max_length=255, primary_key=True)
    # "": not known yet.
    account_id = models.CharField(max_length=20, blank=True, default="")
    # The user is gone, and the account shall go too. A user without a row, or a row without a user,
    # deletes nothing: a database that was restored must not.
    is_deleted = models.BooleanField(default=False)
    # When to send it; null: Tideline has it.
    due_at = models.DateTimeField(null=True, blank=True, default=now)
    # Another text after each change: what was changed while it was sent is sent again.
    change = models.CharField(max_length=32)
    # The run that is sending it. A row comes back when the run has died.
    taken_by = models.CharField(max_length=32, blank=True, default="")
    failures = models.PositiveIntegerField(default=0)
    # Why Tideline refused it the last time.
    error = models.TextField(blank=True, default="")

    objects: "ClassVar[models.Manager[AccountSync]]" = models.Manager()

    class Meta:
        verbose_name = "account at Tideline"
        verbose_name_plural = "accounts at Tideline"
        # The rows that are due, the oldest first; and those of one run.
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="tideline_sync_due"),
            models.Index(fields=["taken_by"], name="tideline_sync_taken"),
            # The way back from an account to its user.
            models.Index(fields=["account_id"], name="tideline_sync_account"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id}: {self.account_id or 'not there yet'}"


class ReceivedMessage(models.Model):
    """A message of the webhook that was handled: it is not handled again."""

    id = models.CharField(max_length=255, primary_key=True)
    received_at = models.DateTimeField(default=now)

    objects: "ClassVar[models.Manager[ReceivedMessage]]" = models.Manager()

    class Meta:
        # Old rows are deleted.
        indexes: ClassVar = [models.Index(fields=["received_at"], name="tideline_received")]

    def __str__(self) -> str:
        return self.id
