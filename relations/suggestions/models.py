"""Suggestions that accounts do not want to see again."""

from django.db import models

from infra.sharding.models import ShardedModel


class DismissedSuggestion(ShardedModel):
    """SHARDED by owner_id, at most MOST_DISMISSED an account.

    Written by relations.suggestions.actions.dismiss.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "account_id")
    owner_id = models.BigIntegerField()
    account_id = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account_id} by {self.owner_id}"
