"""The shape of an item of the home timeline; only for the OpenAPI document."""

from typing import Any

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
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


class HomeItemEntity(HomeStatusEntity):
    promoted = BooleanField(required=False, help_text="True for a promotion, else absent")
    campaign = CharField(required=False, help_text="For a promotion: the id of its campaign")
    type = ChoiceField(KINDS, required=False, help_text="For a promotion: the kind of its target")
    ad = PromotedAdEntity(required=False, help_text="For a promoted ad, instead of a post")
