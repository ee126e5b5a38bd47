"""The requests and answers of images, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    CharField,
    ChoiceField,
    DictField,
    FileField,
    RegexField,
    Serializer,
    URLField,
)

from accounts.images.types import DESCRIPTION_LENGTH
from infra.api.fields import OPTIONAL, TextField

FOCUS = r"^([+-]?[0-9]{1,4}(\.[0-9]{1,20})?,[+-]?[0-9]{1,4}(\.[0-9]{1,20})?)?$"


class ImageTextBody(Serializer[Any]):
    description = TextField(
        max_length=DESCRIPTION_LENGTH, help_text="For people who cannot see it", **OPTIONAL
    )
    focus = RegexField(
        FOCUS, help_text="The point that previews keep: x,y from -1 to 1", **OPTIONAL
    )


class NewImageBody(ImageTextBody):
    file = FileField(help_text="JPEG, PNG, GIF (its first frame) or WebP")


class MediaAttachmentEntity(Serializer[Any]):
    id = CharField()
    type = ChoiceField(["image"])
    url = URLField()
    preview_url = URLField()
    remote_url = URLField(allow_null=True)
    preview_remote_url = URLField(allow_null=True)
    text_url = URLField(allow_null=True)
    meta = DictField(help_text="Sizes of the image and of its preview, and the focus")
    description = CharField(allow_null=True)
    blurhash = CharField()
