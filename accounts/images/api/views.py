"""Endpoints for images that a post is going to have, and the route that serves files."""

import re
from datetime import UTC, datetime

import orjson
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.quotas import UPLOADS
from accounts.images.actions.store_image import store_image
from accounts.images.actions.use_image import delete_image, describe_image
from accounts.images.api import schema
from accounts.images.api.parse import find_description, find_focus, read_image_id, read_upload
from accounts.images.api.present import present_attachment
from accounts.images.codec.encode import MIME_TYPES_BY_SUFFIX
from accounts.images.errors import ImagesUnavailable
from accounts.images.file_names import NAME_PATTERN
from accounts.images.queries.attachments import get_unattached
from accounts.images.store import read_file
from accounts.images.types import Attachment, ImageText, Purpose
from infra.api.endpoint import Endpoint
from infra.api.parsing import UploadParser
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again

_NAME = re.compile(NAME_PATTERN)
# The browser takes a file for nothing else than an image, and runs nothing in it. Nor in a refusal.
_NO_PAGE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
# A file never changes, but its post may be deleted or hidden: shared caches ask again.
FILE_HEADERS = {
    **_NO_PAGE,
    "Cache-Control": "public, max-age=31536000, s-maxage=10, immutable",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Allow-Origin": "*",
}


class MediaView(Endpoint):
    """Upload an image for a post. It is ready when this answers, and removed if no post uses it."""

    scopes = {"POST": "write:media"}
    parser_classes = [UploadParser]

    @extend_schema(request=schema.NewImageBody, responses=schema.MediaAttachmentEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        text = ImageText(
            find_description(request.data) or "", find_focus(request.data) or (0.0, 0.0)
        )
        content = read_upload(request.data, "file")
        owner_id = request.account_id
        UPLOADS.charge(owner_id)
        stored = store_image(owner_id, content, Purpose.POST, datetime.now(UTC), text)
        attachment = Attachment(stored.id, stored.token, stored.facts, *text)
        return json_response(orjson.dumps(present_attachment(owner_id, attachment)))


class MediumView(Endpoint):
    """One of your images that no post has yet: read, describe or delete it."""

    scopes = {"GET": "write:media", "PUT": "write:media", "DELETE": "write:media"}

    @extend_schema(responses=schema.MediaAttachmentEntity)
    def get(self, request: ApiRequest, media_id: str) -> HttpResponse:
        return _answer(request, read_image_id(media_id))

    @extend_schema(request=schema.ImageTextBody, responses=schema.MediaAttachmentEntity)
    def put(self, request: ApiRequest, media_id: str) -> HttpResponse:
        image_id = read_image_id(media_id)
        description, focus = find_description(request.data), find_focus(request.data)
        describe_image(request.account_id, image_id, description, focus)
        return _answer(request, image_id)

    @extend_schema(responses={200: None})
    def delete(self, request: ApiRequest, media_id: str) -> HttpResponse:
        delete_image(request.account_id, read_image_id(media_id))
        return json_response(b"{}")


@beginning_again
def _answer(request: ApiRequest, image_id: int) -> HttpResponse:
    image = get_unattached(request.account_id, image_id)
    return json_response(orjson.dumps(present_attachment(request.account_id, image)))


def serve_file(request: HttpRequest, name: str) -> HttpResponse:
    """A stored file. Behind nginx or with a bucket, these serve the files, and not this."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponse(status=405, headers={"Allow": "GET, HEAD", **_NO_PAGE})
    try:
        content = read_file(name) if _NAME.fullmatch(name) else None
    except ImagesUnavailable as error:
        return HttpResponse(status=error.status, headers={"Retry-After": "5", **_NO_PAGE})
    if content is None:
        return HttpResponse(status=404, headers=_NO_PAGE)
    suffix = name[name.rindex(".") :]
    return HttpResponse(content, MIME_TYPES_BY_SUFFIX[suffix], headers=FILE_HEADERS)
