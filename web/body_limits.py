"""How large the body of a request may be: larger on the routes that take images."""

from django.conf import settings

from web.paths import without_slash

UPLOAD_PATHS = frozenset(
    (
        "/api/v1/media",
        "/api/v2/media",
        "/api/v1/accounts/update_credentials",
        "/compose/images",
        "/settings/pictures",
    )
)


def is_upload(path: str) -> bool:
    """Whether a request with this path may bring files."""
    return without_slash(path) in UPLOAD_PATHS


def most_body_bytes(path: str) -> int:
    """The limit of a whole body: of a form's text fields, and of an image where one may come."""
    text: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return text + settings.MEDIA_MAX_BYTES if is_upload(path) else text
