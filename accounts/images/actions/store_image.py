"""Takes an upload: checks it, encodes it, and stores its files."""

import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
from django.conf import settings

from accounts.images.codec.encode import encode_upload
from accounts.images.errors import ImageRefused, ImagesUnavailable, TooManyImages
from accounts.images.file_names import FileNames, names_of, new_token
from accounts.images.metrics import ENCODING, UPLOADS
from accounts.images.store import write_files
from accounts.images.types import EncodedImage, ImageFacts, ImageText, Purpose
from infra.changes.failpoints import failpoint
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one

# Mastodon's. Long enough for a person who writes a post.
UNUSED_FOR = timedelta(days=1)
# Above what a person uploads without posting. Those of scheduled posts stay longer: not counted.
MOST_UNUSED = 100
_ID_BITS = 62
_NO_TEXT = ImageText()
UNUSED = """
SELECT count(*) FROM (
    SELECT 1 FROM images_storedimage
    WHERE owner_id = %s AND remove_after > %s AND remove_after <= %s LIMIT %s
) AS unused
"""
INSERT = """
INSERT INTO images_storedimage (owner_id, id, purpose, token, facts, description, focus_x, focus_y,
    created_at, remove_after)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


class StoredUpload(NamedTuple):
    """An image whose files are stored."""

    owner_id: int
    id: int
    token: str
    facts: ImageFacts

    @property
    def names(self) -> FileNames:
        return names_of(*self)


def store_image(
    owner_id: int, content: bytes, purpose: Purpose, now: datetime, text: ImageText = _NO_TEXT
) -> StoredUpload:
    """Stores an image that nothing uses yet. Unless it is used within a day, it is removed.

    Raises: ImageRefused, TooManyImages, ImagesUnavailable. Safety: the row is committed before the
    first file is written. So a process that dies leaves files that the row names, and
    purge unused-images deletes them. Cost: the encoding, two statements, at most two files.
    """
    try:
        _check_unused(owner_id, now)
        encoded = _encode(content, purpose)
        upload = StoredUpload(owner_id, secrets.randbits(_ID_BITS), new_token(), encoded.facts)
        _insert(upload, purpose, text, now)
        failpoint("images.before_files")
        _write(upload, encoded)
        failpoint("images.before_answer")
    except (ImageRefused, TooManyImages, ImagesUnavailable) as error:
        UPLOADS.labels(type(error).__name__).inc()
        raise
    UPLOADS.labels("stored").inc()
    return upload


def _encode(content: bytes, purpose: Purpose) -> EncodedImage:
    if len(content) > settings.MEDIA_MAX_BYTES:
        raise ImageRefused(
            f"Validation failed: File size must be less than {settings.MEDIA_MAX_BYTES} bytes"
        )
    with ENCODING.time():
        return encode_upload(content, purpose, settings.MEDIA_MAX_PIXELS)


def _check_unused(owner_id: int, now: datetime) -> None:
    row = fetch_one(shard_of(owner_id), UNUSED, (owner_id, now, now + UNUSED_FOR, MOST_UNUSED))
    if row is not None and row[0] >= MOST_UNUSED:
        raise TooManyImages


def _insert(upload: StoredUpload, purpose: Purpose, text: ImageText, now: datetime) -> None:
    facts = msgspec.json.encode(upload.facts).decode()
    described = (text.description, *text.focus)
    row = (upload.owner_id, upload.id, purpose, upload.token, facts, *described, now)
    execute(shard_of(upload.owner_id), INSERT, (*row, now + UNUSED_FOR))


def _write(upload: StoredUpload, encoded: EncodedImage) -> None:
    contents = {upload.names.original: encoded.original}
    if encoded.small is not None:
        contents[upload.names.small] = encoded.small
    write_files(contents)
