"""The images of a post: what an edit says about each, and what stays of a deleted post's."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from accounts.images.actions.place_files import try_to_place_files
from accounts.images.api.parse import find_description, find_focus
from accounts.images.api.present import present_attachment
from accounts.images.queries.attachments import load_existing_attachments
from infra.api.nested import find_objects
from posts.errors import InvalidDraft

NAME = "media_attributes"


def read_image_texts(
    data: Mapping[str, Any], media: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For images of an edited post (`media`) their `id`, with the description and focus if sent.

    Some clients send with each edit what all images are. Raises: InvalidDraft for an image that the
    post does not have, InvalidRequest.
    """
    ids = {str(image["id"]): image["id"] for image in media}
    texts: dict[int, dict[str, Any]] = {}
    for sent in find_objects(data, NAME) or ():
        image_id = ids.get(str(sent.get("id")))
        if image_id is None:
            raise InvalidDraft(f"Validation failed: {NAME} names no image of this post")
        if sent.get("thumbnail"):
            raise InvalidDraft("Validation failed: The thumbnail of an image cannot be changed")
        texts[image_id] = {"id": image_id, **dict(_iter_changes(sent))}
    return list(texts.values())


def with_kept_images(author_id: int, status: bytes) -> bytes:
    """The Status of a post that was just deleted, with the new addresses of its images, which the
    author keeps for another post: the old ones have ended.

    Cost: with images, as `place_files`, and one query.
    """
    shown = orjson.loads(status)
    ids = [int(image["id"]) for image in shown["media_attachments"]]
    if not ids:
        return status
    try_to_place_files(author_id)
    kept = load_existing_attachments(author_id, ids)
    shown["media_attachments"] = [present_attachment(author_id, kept[i]) for i in ids if i in kept]
    return orjson.dumps(shown)


def _iter_changes(sent: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    description, focus = find_description(sent), find_focus(sent)
    if description is not None:
        yield "description", description
    if focus is not None:
        yield "focus", focus
