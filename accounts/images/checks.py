"""`check --deploy` of images: a new installation must be able to store one."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Error

from accounts.images.actions.try_store import try_store
from accounts.images.errors import ImagesUnavailable

_HINT = "Tideline's user must be able to write MEDIA_DIR, or MEDIA_BUCKET must be reachable."


def check_store(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Writes a file, reads it and deletes it."""
    try:
        try_store()
    except ImagesUnavailable as error:
        return [Error(f"No image can be stored: {error.why}", hint=_HINT, id="images.E001")]
    return []
