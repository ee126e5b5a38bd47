"""The shape of an item of the home timeline, for the OpenAPI schema only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    Serializer,
    URLField,
)

from posts.api.schema import HomeStatusEntity
from timelines.promotions.models import KINDS

ALL_PROMOTIONS = OpenApiParameter(
    "all_promotions",
    OpenApiTypes.BOOL,
    description="Also promoted accounts and ads, which are no Status: `id`, `type`, and `account`"
    " or `ad`",
)


class PromotedAdEntity(Serializer[Any]):
    title = CharField()
    text = CharField()
    url = URLField()


class HomeItemEntity(HomeStatusEntity):
    promoted = BooleanField(required=False, help_text="Only of promotions, and then true")
    campaign = CharField(required=False, help_text="Of a promotion: what it belongs to")
    type = ChoiceField(KINDS, required=False, help_text="Of a promotion: what is promoted")
    ad = PromotedAdEntity(required=False, help_text="Of a promoted ad, in place of a post")
