"""Account lists and their members."""

from django.db import models

from infra.sharding.models import ShardedModel
from relations.lists.types import RepliesPolicy

LONGEST_TITLE = 256
POLICIES = [(policy.value, policy.name) for policy in RepliesPolicy]


class AccountList(ShardedModel):
    """SHARDED by owner_id, at most MOST_LISTS an account; written by relations.lists.actions.

    `list_id`: the millisecond of the creation, or the next free number.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "list_id")
    owner_id = models.BigIntegerField()
    list_id = models.BigIntegerField()
    title = models.CharField(max_length=LONGEST_TITLE)
    replies_policy = models.SmallIntegerField(choices=POLICIES)
    exclusive = models.BooleanField(db_default=False)  # members are not at home

    def __str__(self) -> str:
        return f"{self.title} of {self.owner_id}"


class ListMember(ShardedModel):
    """SHARDED by owner_id, at most MOST_MEMBERS a list; written by relations.lists.actions.

    `since_ms`: when the follow began that the membership depends on. A row that depends on an ended
    follow is ignored (relations/lists/queries/lists.py).
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "list_id", "account_id")
    owner_id = models.BigIntegerField()
    list_id = models.BigIntegerField()
    account_id = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.account_id} on {self.list_id} of {self.owner_id}"
