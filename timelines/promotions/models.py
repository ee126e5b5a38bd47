"""Campaigns: what operators promote, to which viewers, how often and when; and who hides them."""

from django.core.validators import URLValidator
from django.db import models
from django.db.models.functions import Now

from infra.sharding.models import ShardedModel
from infra.sharding.placement import Placement
from posts.ids import BASE36_DIGITS, PostId
from timelines.promotions.types import CampaignKind

KINDS = [(kind.value, kind.value) for kind in CampaignKind]
HTTPS = URLValidator(["https"], message="Give a link that begins with https://.")


class Campaign(models.Model):
    """GLOBAL, few rows; written by the admin, its two numbers by timelines.promotions.budget.

    `given_out`: impressions that processes may make, never more than `total_cap`. `served`:
    impressions that processes reported. `kind` says which target is set. `paid_by`: empty if the
    operators did not say that others paid. `post_id`: base36.
    """

    placement = Placement.GLOBAL

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=8, choices=KINDS)
    paid_by = models.CharField(max_length=100, blank=True, default="", db_default="")
    post_id = models.CharField(max_length=BASE36_DIGITS, blank=True, default="")
    account_id = models.BigIntegerField(null=True, blank=True)
    ad_title = models.CharField(max_length=100, blank=True, default="")
    ad_text = models.CharField(max_length=500, blank=True, default="")
    ad_url = models.CharField(max_length=200, blank=True, default="", validators=[HTTPS])
    slot = models.PositiveSmallIntegerField(default=3)
    every = models.PositiveSmallIntegerField(default=20)
    daily_cap = models.PositiveSmallIntegerField(default=1)
    total_cap = models.BigIntegerField(null=True, blank=True)
    audience_percent = models.PositiveSmallIntegerField(default=100)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    is_paused = models.BooleanField(default=False)
    given_out = models.BigIntegerField(default=0, db_default=0, editable=False)
    served = models.BigIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.name

    @property
    def public_id(self) -> str:
        """The id of the promoted post as the API shows it; empty without a post."""
        return PostId.from_base36(self.post_id).public if self.post_id else ""


class HiddenCampaign(ShardedModel):
    """SHARDED by owner_id, a row for each campaign that an account hides; campaigns are few.

    Written by timelines.promotions.actions.hide.
    """

    owner = "owner_id"

    pk = models.CompositePrimaryKey("owner_id", "campaign_id")
    owner_id = models.BigIntegerField()
    campaign_id = models.BigIntegerField()
    since_ms = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.owner_id} hides {self.campaign_id}"
