"""Reads requests with images."""

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from accounts.images.actions.use_image import Focus
from accounts.images.errors import ImageNotFound, ImageRefused
from accounts.images.types import DESCRIPTION_LENGTH, MOST_OF_POST
from accounts.texts.lengths import is_longer
from infra.api.errors import InvalidRequest
from infra.api.nested import find_list
from infra.api.parsing import find_text

_ID = re.compile(r"[0-9]{1,19}")
_LARGEST_ID = 2**62
_DATA_URL = re.compile(r"data:(?:[-\w]+/[-\w.+]+)?(?:;[-\w]+=[-\w]+)?;base64,", re.ASCII)
_NUMBER = r"\s*[+-]?(?:\d{1,4}(?:\.\d{0,20})?|\.\d{1,20})\s*"
_FOCUS = re.compile(f"({_NUMBER}),({_NUMBER})", re.ASCII)


def read_upload(data: Mapping[str, Any], name: str) -> bytes:
    """The file that a form has under this name. Raises: ImageRefused (422)."""
    sent = data.get(name)
    if not isinstance(sent, UploadedFile):
        raise ImageRefused(f"Validation failed: {name.capitalize()} must be a file in a form")
    sent.seek(0)  # a request may begin again
    return sent.read()


def is_data_url(value: object) -> bool:
    """Whether this is the address of a file that is in the address itself, in base64."""
    return isinstance(value, str) and _DATA_URL.match(value) is not None


def read_data_url(text: str) -> bytes:
    """The file in the address. Raises: ImageRefused (422)."""
    match = _DATA_URL.match(text)
    try:
        return b64decode(text[match.end() :] if match else text, validate=True)
    except ValueError:
        raise ImageRefused("Validation failed: the data: address is not valid base64") from None


def find_description(data: Mapping[str, Any]) -> str | None:
    """The description without blanks around it, None if none was sent. Raises: InvalidRequest."""
    text = find_text(data, "description")
    if text is None:
        return None
    text = text.strip()
    if is_longer(text, DESCRIPTION_LENGTH):
        raise InvalidRequest(
            f"Validation failed: Description is too long (maximum is {DESCRIPTION_LENGTH})"
        )
    return text


def find_focus(data: Mapping[str, Any]) -> Focus | None:
    """The focus `x,y`, cut to -1…1; None if none was sent. Raises: InvalidRequest (422)."""
    text = find_text(data, "focus")
    if not text:
        return None
    match = _FOCUS.fullmatch(text)
    if match is None:
        raise InvalidRequest("focus must be two numbers from -1 to 1, separated by a comma")
    x, y = (max(-1.0, min(1.0, float(number))) for number in match.groups())
    return x, y


def read_image_id(text: str) -> int:
    """The id in a path or a body. Raises: ImageNotFound."""
    if not _ID.fullmatch(text) or int(text) >= _LARGEST_ID:
        raise ImageNotFound
    return int(text)


def find_image_ids(data: Mapping[str, Any]) -> list[int] | None:
    """The ids of `media_ids`, each once; None if none were sent.

    Raises: ImageRefused (422) for too many, and for texts that are no ids.
    """
    sent = find_list(data, "media_ids")
    if sent is None:
        return None
    try:
        ids = list(dict.fromkeys(read_image_id(str(image_id)) for image_id in sent))
    except ImageNotFound:
        raise ImageRefused("Validation failed: media_ids has a text that is no id") from None
    if len(ids) > MOST_OF_POST:
        raise ImageRefused(f"Validation failed: Cannot attach more than {MOST_OF_POST} files")
    return ids
