"""The names of files, and their addresses.

    {owner}/{id}/{token}/original.jpg     the image
    {owner}/{id}/{token}/small.jpg        the smaller one, if there is one

The token makes a name impossible to guess. A file never changes, so caches may keep it for ever.
"""

import secrets
from typing import NamedTuple

from django.conf import settings

from accounts.images.types import ImageFacts

FILE_NAME_LENGTH = 100
ORIGINAL, SMALL = "original", "small"
_TOKEN_BYTES = 16
# What a name looks like, for the route that serves files. {owner}/{id}/{token}/{which}{suffix}
NAME_PATTERN = r"[0-9]{1,10}/[0-9]{1,19}/[0-9a-f]{32}/(?:original|small)\.(?:jpg|webp)"


class FileNames(NamedTuple):
    """The files of one image. `small` is `original` if the image has only one file."""

    original: str
    small: str

    @property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(self))


def new_token() -> str:
    return secrets.token_hex(_TOKEN_BYTES)


def names_of(owner_id: int, image_id: int, token: str, facts: ImageFacts) -> FileNames:
    """The names of an image's files in the store."""
    folder = f"{owner_id}/{image_id}/{token}"
    original = f"{folder}/{ORIGINAL}{facts.suffix}"
    return FileNames(original, f"{folder}/{SMALL}{facts.suffix}" if facts.small else original)


def url_of_file(name: str) -> str:
    """The address of a file, for readers."""
    return f"{settings.MEDIA_URL}{name}"
