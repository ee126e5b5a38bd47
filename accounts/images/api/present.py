"""Mastodon's MediaAttachment entity."""

from typing import Any

from accounts.images.file_names import names_of, url_of_file
from accounts.images.types import Attachment


def present_attachment(owner_id: int, image: Attachment) -> dict[str, Any]:
    """The entity of an image of this owner."""
    names = names_of(owner_id, image.id, image.token, image.facts)
    address = url_of_file(names.original)
    small = image.facts.small or image.facts.size
    return {
        "id": str(image.id),
        "type": "image",
        "url": address,
        "preview_url": url_of_file(names.small),
        "remote_url": None,
        "preview_remote_url": None,
        "text_url": None,
        "meta": {
            "original": _present_size(*image.facts.size),
            "small": _present_size(*small),
            "focus": {"x": image.focus[0], "y": image.focus[1]},
        },
        "description": image.description or None,
        "blurhash": image.facts.blurhash,
    }


def _present_size(width: int, height: int) -> dict[str, Any]:
    size = f"{width}x{height}"
    return {"width": width, "height": height, "size": size, "aspect": width / height}
