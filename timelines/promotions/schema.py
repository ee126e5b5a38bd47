"""The shape of an item of the home timeline; only for the OpenAPI document."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    IntegerField,
    Serializer,
    URLField,
)

from infra.api.fields import flag_parameter
from posts.api.schema import HomeStatusEntity
from timelines.promotions.models import KINDS

ALL_PROMOTIONS = flag_parameter(
    "all_promotions",
    "Adds promoted accounts and ads. They are no Status: they have `id`, `type`, and `account` or"
    " `ad`",
)


class PromotedAdEntity(Serializer[Any]):
    title = CharField()
    text = CharField()
    url = URLField()


class PromotionEntity(Serializer[Any]):
    id = CharField(help_text="Of the campaign, as `campaign` of an item of the home timeline")
    type = ChoiceField(KINDS)
    placed_by = CharField(help_text="The name of this site, whose operators placed it")
    paid_by = CharField(allow_null=True, help_text="Who pays for it; null: the site says nothing")
    audience = ChoiceField(
        ["everyone", "share"],
        help_text="share: some people, chosen by chance. What a person reads, writes or follows"
        " plays no part",
    )
    audience_percent = IntegerField(min_value=0, max_value=100, help_text="How large the share is")
    most_a_day = IntegerField(min_value=1, help_text="How often a person sees it in a day (UTC)")
    starts_at = DateTimeField()
    ends_at = DateTimeField()
    account_id = CharField(
        allow_null=True,
        help_text="The promoted account, or the author of the promoted post: after a mute or a"
        " block of it the promotion is not shown. null for an ad",
    )


class HomeItemEntity(HomeStatusEntity):
    promoted = BooleanField(required=False, help_text="True for a promotion, else absent")
    campaign = CharField(required=False, help_text="For a promotion: the id of its campaign")
    type = CharField(
        required=False, help_text="Of a post as in a Status; of a promotion the kind of its target"
    )
    ad = PromotedAdEntity(required=False, help_text="For a promoted ad, instead of a post")
