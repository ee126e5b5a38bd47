"""The images that the author of a deleted post keeps for another one."""

import orjson

from accounts.images.actions.place_files import try_to_place_files
from accounts.images.api.present import present_attachment
from accounts.images.queries.attachments import load_existing_attachments


def with_kept_images(author_id: int, status: bytes) -> bytes:
    """The Status of a post that was just deleted, with the new addresses of its images: the old
    ones have ended. Cost: with images, as `place_files`, and one query."""
    shown = orjson.loads(status)
    ids = [int(image["id"]) for image in shown["media_attachments"]]
    if not ids:
        return status
    try_to_place_files(author_id)
    kept = load_existing_attachments(author_id, ids)
    shown["media_attachments"] = [present_attachment(author_id, kept[i]) for i in ids if i in kept]
    return orjson.dumps(shown)
