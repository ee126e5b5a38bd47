"""Checks what an edit says about single images, which keep their descriptions and focus."""

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.images.api.parse import find_description, find_focus
from infra.api.nested import find_objects
from posts.errors import InvalidDraft

NAME = "media_attributes"


def check_same_images(data: Mapping[str, Any], media: Sequence[Mapping[str, Any]]) -> None:
    """For edits, with which some clients send again what each image is, also if only the text is
    new. Raises: InvalidDraft for another description, focus or image, InvalidRequest."""
    known = {str(image["id"]): image for image in media}
    for sent in find_objects(data, NAME) or ():
        image = known.get(str(sent.get("id")))
        if image is None or not _is_same(sent, image):
            raise InvalidDraft(f"Validation failed: {NAME} cannot change an image of a post")


def _is_same(sent: Mapping[str, Any], image: Mapping[str, Any]) -> bool:
    description, focus = find_description(sent), find_focus(sent)
    return (
        description in (None, image.get("description", ""))
        and focus in (None, tuple(image.get("focus", (0.0, 0.0))))
        and not sent.get("thumbnail")
    )
