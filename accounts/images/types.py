"""Values of images."""

from enum import IntEnum
from typing import NamedTuple

import msgspec

# Mastodon's; clients show them while a person types.
DESCRIPTION_LENGTH = 1_500
MOST_OF_POST = 4


class Purpose(IntEnum):
    """The place where an image is shown. Stored as a number."""

    POST = 0
    AVATAR = 1
    HEADER = 2


class Area(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


class ImageFacts(msgspec.Struct, frozen=True):
    """The files of an image, as stored with it. `suffix`: of both files.

    `small`: the smaller file; None if the image is small itself, and has only one file.
    """

    suffix: str
    size: tuple[int, int]
    small: tuple[int, int] | None
    blurhash: str


class EncodedImage(NamedTuple):
    """The result of an upload, before it is stored. `small`: None as in ImageFacts."""

    facts: ImageFacts
    original: bytes
    small: bytes | None


class ImageText(NamedTuple):
    """What the owner says about an image. `focus`: the point that previews keep, -1…1 each."""

    description: str = ""
    focus: tuple[float, float] = (0.0, 0.0)


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """An image of a post, as the post's row has it: all that its entity needs but the author.

    `is_hidden`: moderators hid it, so no reader gets it.
    """

    id: int
    token: str
    facts: ImageFacts
    description: str = ""
    focus: tuple[float, float] = (0.0, 0.0)
    is_hidden: bool = False
