"""The login user (GLOBAL), its account (SHARDED), and the API applications (GLOBAL)."""

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from oauth2_provider.models import AbstractApplication

from infra.api.ids import MAX_ACCOUNT_ID
from infra.sharding.models import ShardedModel
from infra.sharding.placement import Placement

USERNAME_LENGTH = 30


class User(AbstractUser):
    """GLOBAL, one row an account, written by sign-up. Its id is the account id.

    Usernames are kept in lower case, so that @Ann and @ann cannot be two people.
    """

    placement = Placement.GLOBAL

    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    username = models.CharField(
        max_length=USERNAME_LENGTH,
        unique=True,
        validators=[
            RegexValidator(r"\A[a-z0-9_]+\Z", "must contain only letters, numbers and underscores")
        ],
        error_messages={"unique": "has already been taken"},
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique",
                condition=~models.Q(email=""),
                violation_error_message="has already been taken",
            ),
            # The id is six base36 digits of every post id.
            models.CheckConstraint(
                condition=models.Q(id__lte=MAX_ACCOUNT_ID), name="user_id_fits_post_ids"
            ),
        ]


class Account(ShardedModel):
    """SHARDED by id, the profile; written by accounts.actions. Its row is the owner's lock.

    `version` grows with every change of the profile and versions its cache entry.
    """

    owner = "id"

    id = models.BigIntegerField(primary_key=True)
    username = models.CharField(max_length=USERNAME_LENGTH)
    display_name = models.CharField(max_length=100, blank=True)
    note = models.TextField(blank=True)
    is_locked = models.BooleanField(default=False)
    is_bot = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    version = models.BigIntegerField(default=1)

    def __str__(self) -> str:
        return f"@{self.username}"


class Application(AbstractApplication):
    """GLOBAL, an API client registered through POST /api/v1/apps."""

    placement = Placement.GLOBAL

    website = models.CharField(max_length=2_000, blank=True)
    scopes = models.TextField(default="read")

    class Meta(AbstractApplication.Meta):
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"
