"""Users, API applications and tokens (GLOBAL), and accounts (SHARDED)."""

from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models.functions import Lower
from oauth2_provider.models import (
    AbstractAccessToken,
    AbstractApplication,
    AbstractIDToken,
    AbstractRefreshToken,
)

from accounts.changes import TokenRevoked
from accounts.images.file_names import FILE_NAME_LENGTH
from accounts.texts.lengths import CODE_POINTS_EACH
from accounts.token_tags import read_name
from accounts.types import HOME_REPLIES, PRIVACIES, QUOTE_POLICIES, Restriction
from infra.api.ids import MAX_ACCOUNT_ID
from infra.changes.append import append_change
from infra.languages import LONGEST_LANGUAGE
from infra.sharding.models import ShardedModel
from infra.sharding.placement import GLOBAL_ALIAS, Placement

USERNAME_LENGTH = 30
DISPLAY_NAME_LENGTH = 100
EMAIL_LENGTH = 254  # as Django's field
LANGUAGE_LENGTH = 16
LONGEST_OBJECT_KIND = 15


class UserManager(DjangoUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        """The user who signs in with this name: a username in any case, or an e-mail address."""
        name = (username or "").lower()
        if "@" not in name:
            return self.get(username=name)
        # The same expression as user_email_unique, so that its index serves the query.
        return self.alias(lower=Lower("email")).exclude(email="").get(lower=name)


class User(AbstractUser):  # type: ignore[django-manager-missing]
    """GLOBAL, one row per account, written by sign-up. Its id is the account id.

    Usernames are stored in lower case, so that @Ann and @ann cannot be two people.
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
    # The truth; the account's row on its shard and `is_active` have copies. Written by
    # restrict_user. The revision also versions the user's cached tokens.
    restrictions = models.SmallIntegerField(
        db_default=Restriction.NONE.value, default=Restriction.NONE.value, editable=False
    )
    restriction_revision = models.BigIntegerField(db_default=0, default=0, editable=False)
    suspended_at = models.DateTimeField(null=True, editable=False)
    # Of pages, mails and messages to devices; empty: that of the browser, or of the site.
    language = models.CharField(
        max_length=LONGEST_LANGUAGE, blank=True, default="", db_default="", editable=False
    )

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="user_email_unique",
                condition=~models.Q(email=""),
                violation_error_message="has already been taken",
            ),
            # A post id contains the author's id as six base36 digits.
            models.CheckConstraint(
                condition=models.Q(id__lte=MAX_ACCOUNT_ID), name="user_id_fits_post_ids"
            ),
        ]
        indexes = [
            # counts users by restriction; few rows
            models.Index(
                fields=["restrictions"],
                name="user_restricted",
                condition=~models.Q(restrictions=Restriction.NONE.value),
            )
        ]

    def get_full_name(self) -> str:
        return self.username

    def get_short_name(self) -> str:
        return self.username


class FormerName(models.Model):
    """GLOBAL, a row for each name that an account had before; written by rename_account. The
    account keeps it: a trigger on the users' table refuses it to others."""

    placement = Placement.GLOBAL

    username = models.CharField(max_length=USERNAME_LENGTH, primary_key=True)
    user = models.ForeignKey(User, models.CASCADE, related_name="former_names")
    renamed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.username


class Account(ShardedModel):
    """SHARDED by id, the profile; written by accounts.actions. Its row is the owner's lock.

    `version` grows with every change of the profile and versions its cache entry. Restrictions are
    copies of the user's, written by restrict_accounts; a lower revision never replaces a higher
    one. The index account_names, on an expression, serves search_names.
    """

    owner = "id"

    id = models.BigIntegerField(primary_key=True)
    username = models.CharField(max_length=USERNAME_LENGTH)
    display_name = models.CharField(
        max_length=DISPLAY_NAME_LENGTH * CODE_POINTS_EACH, blank=True, db_default=""
    )
    note = models.TextField(blank=True, db_default="")
    is_locked = models.BooleanField(db_default=False)
    is_bot = models.BooleanField(db_default=False)
    is_discoverable = models.BooleanField(db_default=True)
    is_indexable = models.BooleanField(db_default=True)
    hides_collections = models.BooleanField(db_default=False)
    # Names of files (accounts/images/file_names.py); empty for an account without one.
    avatar = models.CharField(max_length=FILE_NAME_LENGTH, blank=True, db_default="")
    header = models.CharField(max_length=FILE_NAME_LENGTH, blank=True, db_default="")
    # A list of objects with `name` and `value`; empty for most accounts.
    fields = models.JSONField(db_default=models.Value([], models.JSONField()))
    # As accounts.types.ServiceObject; NULL for a person.
    service_object = models.JSONField(null=True)
    # What the owner's new posts get where a request says nothing.
    default_privacy = models.CharField(max_length=10, db_default=PRIVACIES[0])
    default_sensitive = models.BooleanField(db_default=False)
    default_language = models.CharField(max_length=LANGUAGE_LENGTH, blank=True, db_default="")
    default_quote_policy = models.CharField(max_length=10, db_default=QUOTE_POLICIES[0])
    # Which replies the owner's home timeline shows.
    home_replies = models.CharField(max_length=10, db_default=HOME_REPLIES[0])
    created_at = models.DateTimeField()
    version = models.BigIntegerField(db_default=1)
    restrictions = models.SmallIntegerField(db_default=Restriction.NONE.value)
    restriction_revision = models.BigIntegerField(db_default=0)
    suspended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # finds accounts to purge; few rows
            models.Index(
                fields=["id"],
                name="account_suspended",
                condition=models.Q(suspended_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"@{self.username}"


class ObjectKind(models.Model):
    """GLOBAL, at most MOST_OBJECT_KINDS: a kind of things of services, such as recipe.

    Written by declare_object_kind. `words`: what one of them is called, by language.
    """

    placement: ClassVar[Placement] = Placement.GLOBAL

    name = models.CharField(primary_key=True, max_length=LONGEST_OBJECT_KIND)
    words = models.JSONField()

    def __str__(self) -> str:
        return self.name


class Application(AbstractApplication):
    """GLOBAL, an API client; written by register_application."""

    placement = Placement.GLOBAL

    website = models.CharField(max_length=2_000, blank=True)
    scopes = models.TextField(default="read")
    # A new quota takes effect within ten minutes, when cached tokens have expired.
    quota = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Requests in five minutes by all its users. Empty: the default quota.",
    )
    is_bulk = models.BooleanField(
        "bulk",
        default=False,
        db_default=False,
        help_text="A service whose requests let people go first while the site is slow.",
    )

    class Meta(AbstractApplication.Meta):
        swappable = "OAUTH2_PROVIDER_APPLICATION_MODEL"

    def allows_grant_type(self, *grant_types: str) -> bool:
        """The same types for all: a client does not say at registration which one it will use."""
        allowed = {self.GRANT_AUTHORIZATION_CODE, self.GRANT_CLIENT_CREDENTIALS}
        if settings.ALLOW_PASSWORD_GRANT:
            allowed.add(self.GRANT_PASSWORD)
        return not allowed.isdisjoint(grant_types)

    def clean(self) -> None:
        """Validates nothing: register_application has validated the addresses.

        The toolkit would refuse those of native clients, and so every change in the admin.
        """

    def get_allowed_schemes(self) -> set[str]:
        """The registered ones: native clients have schemes of their own (RFC 8252)."""
        return {urlsplit(uri).scheme for uri in self.redirect_uris.split()}


class AccessToken(AbstractAccessToken):
    """GLOBAL, about one row per user and application; stores only a checksum of the token.

    All code that ends a token calls `revoke`, which also ends the cached token.
    """

    placement = Placement.GLOBAL

    class Meta(AbstractAccessToken.Meta):
        swappable = "OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL"

    def save(self, *args: Any, **options: Any) -> None:
        """A new row takes the id that its token names."""
        raw = getattr(self, "_raw_token", None) or self.token
        name = read_name(raw) if self._state.adding else None
        if name is not None and self.id is None:  # type: ignore[has-type]
            self.id, options["force_insert"] = name.token_id, True
        super().save(*args, **options)

    def revoke(self) -> None:
        """Ends the token everywhere within a second. Safety: idempotent."""
        with transaction.atomic(using=GLOBAL_ALIAS):
            self.delete()
            append_change(GLOBAL_ALIAS, self.user_id or 0, TokenRevoked(self.token_checksum))


class RefreshToken(AbstractRefreshToken):
    """GLOBAL, one row per issued refresh token. Ended ones stay, so that reuse is noticed."""

    placement = Placement.GLOBAL

    class Meta(AbstractRefreshToken.Meta):
        swappable = "OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL"

    @classmethod
    def revoke_family(cls, token_family: UUID | None) -> None:
        """Ends a stolen session, token by token, so that the cached access tokens end too."""
        for token in cls.objects.filter(token_family=token_family, revoked__isnull=True):
            token.revoke()


class IDToken(AbstractIDToken):
    """GLOBAL, empty: OpenID Connect is off. The toolkit needs all its token models in one app."""

    placement = Placement.GLOBAL

    class Meta(AbstractIDToken.Meta):
        swappable = "OAUTH2_PROVIDER_ID_TOKEN_MODEL"
