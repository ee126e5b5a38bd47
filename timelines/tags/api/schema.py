"""The requests and answers of tags, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import (
    BooleanField,
    CharField,
    DateField,
    ListField,
    Serializer,
    URLField,
)

from accounts.api.schema import FieldEntity
from infra.api.fields import FlagField
from timelines.tags.models import LONGEST_NAME

MOST_NAMES = 4  # as in Mastodon


def _names(name: str, text: str) -> OpenApiParameter:
    return OpenApiParameter(
        name, OpenApiTypes.STR, many=True, description=f"{text}. At most {MOST_NAMES} tags"
    )


OTHER_TAGS = [
    _names("any[]", "Posts with one of these tags too"),
    _names("all[]", "Only posts that have all of these tags too"),
    _names("none[]", "Only posts that have none of these tags"),
]


class TagDayEntity(Serializer[Any]):
    day = CharField(help_text="Midnight UTC, in Unix seconds")
    uses = CharField(help_text="Posts of the day. Counts the newest 1,000 posts of the seven days")
    accounts = CharField(help_text="Accounts that used the tag on the day, among these posts")


class TagEntity(Serializer[Any]):
    id = CharField()
    name = CharField()
    url = URLField()
    history = TagDayEntity(many=True, help_text="The last seven days, today first")
    following = BooleanField(required=False, help_text="Absent without a token")
    featuring = BooleanField(required=False, help_text="Absent without a token")


class FeaturedTagEntity(Serializer[Any]):
    id = CharField()
    name = CharField()
    url = URLField()
    statuses_count = CharField(
        help_text="Public and unlisted, among the author's newest 1,000 posts with tags"
    )
    last_status_at = DateField(allow_null=True)


class ProfileEntity(Serializer[Any]):
    id = CharField()
    display_name = CharField(allow_blank=True)
    note = CharField(allow_blank=True, help_text="As it was typed")
    fields = ListField(child=FieldEntity())  # type: ignore[assignment]
    avatar = URLField(allow_null=True, help_text="null: I have none")
    avatar_static = URLField(allow_null=True)
    avatar_description = CharField(allow_blank=True, help_text="Always empty")
    header = URLField(allow_null=True, help_text="null: I have none")
    header_static = URLField(allow_null=True)
    header_description = CharField(allow_blank=True, help_text="Always empty")
    locked = BooleanField()
    bot = BooleanField()
    hide_collections = BooleanField()
    discoverable = BooleanField()
    indexable = BooleanField()
    show_media = BooleanField(help_text="Always true")
    show_media_replies = BooleanField(help_text="Always true")
    show_featured = BooleanField(help_text="Always true")
    attribution_domains = ListField(child=CharField(), help_text="Always empty")
    featured_tags = FeaturedTagEntity(many=True)


class FollowedTagsSettingsEntity(Serializer[Any]):
    home = BooleanField(help_text="Whether home shows public posts with my followed tags")


class TagsAtHomeBody(Serializer[Any]):
    home = FlagField()


class NewFeaturedTagBody(Serializer[Any]):
    name = CharField(max_length=LONGEST_NAME, help_text="With or without #")
