"""lists and who is on them."""

from django.db import models

from infra.sharding.models import ShardedModel
from relations.lists.types import RepliesPolicy

LONGEST_TITLE = 256
POLICIES = [(policy.value, policy.name) for policy in RepliesPolicy]


class AccountList(ShardedModel):
    """SHARDED by owner_id, at most MOST_LISTS an account; written by relations.lists.actions.

    `list_id`: the millisecond it was made in, or the next that is free.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "list_id")
    owner_id = models.BigIntegerField()
    list_id = models.BigIntegerField()
    title = models.CharField(max_length=LONGEST_TITLE)
    replies_policy = models.SmallIntegerField(choices=POLICIES)

    def __str__(self) -> str:
        return f"{self.title} of {self.owner_id}"


class ListMember(ShardedModel):
    """SHARDED by owner_id, at most MOST_MEMBERS a list; written by relations.lists.actions.

    `since_ms`: when the follow began under which the account was put on the list. A row of
    another follow than the one there is now says nothing (relations/lists/queries/lists.py).
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "list_id", "account_id")
    owner_id = models.BigIntegerField()
    list_id = models.BigIntegerField()
    account_id = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account_id} on {self.list_id} of {self.owner_id}"
