"""Which account an identity of another system is, and which systems are trusted to say so."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from accounts.identities.types import OWN_IDS
from accounts.models import Application, User
from infra.sharding.placement import Placement

LONGEST_ISSUER = 255
LONGEST_SUBJECT = 255


class ExternalIdentity(models.Model):
    """GLOBAL, one row an account and issuer; written with the user's row, and never changed."""

    placement: ClassVar[Placement] = Placement.GLOBAL

    issuer = models.CharField(max_length=LONGEST_ISSUER, db_default=OWN_IDS, blank=True)
    subject = models.CharField(max_length=LONGEST_SUBJECT)
    # The constraint `identity_of_user` serves this column.
    user = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            # finds the account of an identity
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_is_of_one_user"),
            # finds the identities of accounts
            models.UniqueConstraint(fields=["user", "issuer"], name="identity_of_user"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer or 'services'}"


class TrustedIssuer(models.Model):
    """GLOBAL, a few rows; written by `issuers trust`. A product whose JWTs say who a person is.

    `keys`: public ones, a JWK set; NULL: they are at `keys_url`. `algorithms`: of signatures.
    `has_own_ids`: its subjects are the ids that services give. `may_create`: accounts for new
    subjects. `application`: gets the tokens; without it there is no trust.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    issuer = models.CharField(max_length=LONGEST_ISSUER, unique=True)
    audience = models.CharField(max_length=LONGEST_ISSUER)
    algorithms = models.JSONField(default=list)
    keys = models.JSONField(null=True)
    keys_url = models.CharField(max_length=2_000, db_default="", blank=True)
    has_own_ids = models.BooleanField(db_default=True)
    may_create = models.BooleanField(db_default=False)
    application = models.OneToOneField(Application, on_delete=models.CASCADE)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(keys__isnull=False) ^ ~models.Q(keys_url=""),
                name="issuer_has_keys_or_url",
            )
        ]

    def __str__(self) -> str:
        return self.issuer


class UsedAssertion(models.Model):
    """GLOBAL, a row for each JWT that gave a token, until it expires: it gives no second one."""

    placement: ClassVar[Placement] = Placement.GLOBAL

    issuer = models.ForeignKey(TrustedIssuer, on_delete=models.CASCADE, db_index=False)
    jti = models.CharField(max_length=LONGEST_SUBJECT)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "jti"], name="assertion_used_once")
        ]
        # finds the expired ones to delete
        indexes = [models.Index(fields=["expires_at"], name="assertion_expires")]

    def __str__(self) -> str:
        return self.jti
