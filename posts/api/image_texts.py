"""Reads what an edit says about single images: descriptions and focus."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.images.api.parse import find_description, find_focus
from infra.api.nested import find_objects
from posts.errors import InvalidDraft

NAME = "media_attributes"


def read_image_texts(
    data: Mapping[str, Any], media: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """For images of an edited post (`media`) their `id` with what was sent of the two.

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


def _iter_changes(sent: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    description, focus = find_description(sent), find_focus(sent)
    if description is not None:
        yield "description", description
    if focus is not None:
        yield "focus", focus
