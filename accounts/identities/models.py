"""Which account an identity of another system is."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.identities.types import OWN_IDS
from accounts.models import User
from accounts.types import FIRST_TENANT
from infra.sharding.placement import Placement

LONGEST_ISSUER = 255
LONGEST_SUBJECT = 255


class ExternalIdentity(models.Model):
    """GLOBAL, one row an account and issuer; written with the user's row, and never changed."""

    placement: ClassVar[Placement] = Placement.GLOBAL

    tenant = models.SmallIntegerField(db_default=FIRST_TENANT, editable=False)
    issuer = models.CharField(max_length=LONGEST_ISSUER, db_default=OWN_IDS, blank=True)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    # The constraint `identity_of_user` serves this column.
    user = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # finds the account of an identity
            models.UniqueConstraint(
                fields=["tenant", "issuer", "subject"], name="identity_has_one_user"
            ),
            # finds the identities of accounts
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_of_user"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer or 'services'}"
