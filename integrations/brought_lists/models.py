"""Tables: the file that a person brought, and its lines."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from infra.sharding.models import ShardedModel
from integrations.brought_lists.types import BroughtKind, LineState

KINDS = [(kind.value, kind.name) for kind in BroughtKind]
STATES = [(state.value, state.name) for state in LineState]


class BroughtFile(ShardedModel):
    """SHARDED by owner_id, at most a row an account, for 30 days; written by
    integrations.brought_lists.actions. A new file replaces one that is done.

    `goes_on_at`: no line is done before. `finished_at`: all lines are done or refused.
    """

    owner = "owner_id"

    owner_id = models.BigIntegerField(primary_key=True)
    kind = models.SmallIntegerField(choices=KINDS)
    lines = models.IntegerField()
    started_at = models.DateTimeField(db_default=Now())
    goes_on_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "integrations_broughtfile"
        indexes = [
            # do_brought_lines: the files with lines left
            models.Index(
                fields=["goes_on_at"],
                name="brought_file_open",
                condition=models.Q(finished_at=None),
            ),
            # delete_old_files
            models.Index(
                fields=["finished_at"],
                name="brought_file_done",
                condition=models.Q(finished_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}: {self.lines} lines"


class BroughtRow(ShardedModel):
    """SHARDED by owner_id, at most MOST_LINES rows an account; written with BroughtFile."""

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "number")
    owner_id = models.BigIntegerField()
    number = models.IntegerField()
    cells = ArrayField(models.TextField())
    state = models.SmallIntegerField(choices=STATES, db_default=LineState.PENDING.value)
    reason = models.TextField(db_default="", blank=True)

    class Meta:
        db_table = "integrations_broughtrow"
        indexes = [
            # the next lines of a file
            models.Index(
                fields=["owner_id", "number"],
                name="brought_row_pending",
                condition=models.Q(state=LineState.PENDING.value),
            )
        ]

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.number}"
