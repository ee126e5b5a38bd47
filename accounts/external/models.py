"""The ids that other systems give to accounts."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.types import FIRST_TENANT
from infra.importing.types import LONGEST_ID
from infra.sharding.placement import Placement


class ExternalAccount(models.Model):
    """GLOBAL, a row an imported account, never changed; written by accounts.external.actions.

    It outlives the data of the account: a second import brings no deleted account back.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    tenant = models.SmallIntegerField(db_default=FIRST_TENANT)
    external_id = models.CharField(max_length=LONGEST_ID)
    account_id = models.BigIntegerField()
    bound_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "accounts_externalaccount"
        constraints = [
            # finds accounts by external ids
            models.UniqueConstraint(fields=["tenant", "external_id"], name="external_id_once"),
            # finds the external id of an account
            models.UniqueConstraint(fields=["account_id"], name="external_id_of_account"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} is {self.account_id}"
