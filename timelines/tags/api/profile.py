"""The caller's own profile as it is edited: plain texts, null without a picture, featured tags."""

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser

from accounts.api.schema import ProfileEditBody
from accounts.api.views.credentials import edit_profile
from accounts.errors import AccountNotFound
from accounts.images.file_names import url_of_file
from accounts.queries.profiles import find_profile
from accounts.types import Profile
from infra.api.endpoint import Endpoint
from infra.api.parsing import UploadJsonParser, UploadParser
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again
from timelines.tags.api import schema
from timelines.tags.api.present import present_featured
from timelines.tags.queries.own_tags import list_own_tags
from timelines.tags.types import TagListKind


class ProfileView(Endpoint):
    """My profile, with the texts as I typed them."""

    scopes = {"GET": "profile", "PATCH": "write:accounts"}
    parser_classes = [UploadJsonParser, FormParser, UploadParser]

    @extend_schema(responses=schema.ProfileEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer(request.account_id)

    @extend_schema(request=ProfileEditBody, responses=schema.ProfileEntity)
    def patch(self, request: ApiRequest) -> HttpResponse:
        """Change parts of it, as update_credentials does. Fields that are not sent stay."""
        edit_profile(request.account_id, request.data)
        return _answer(request.account_id)


@beginning_again
def _answer(account_id: int) -> HttpResponse:
    """Cost: a query for the profile, one for the tags, and one if there are tags."""
    profile = find_profile(account_id)
    if profile is None:
        raise AccountNotFound
    tags = present_featured(account_id, list_own_tags(account_id, TagListKind.FEATURED))
    return json_response(b'%b,"featured_tags":%b}' % (orjson.dumps(_fields(profile))[:-1], tags))


def _fields(profile: Profile) -> dict[str, object]:
    """What profiles here lack has the value of a profile that does not use it."""
    pictures = (profile.avatar, profile.header)
    avatar, header = (url_of_file(name) if name else None for name in pictures)
    return {
        "id": str(profile.id),
        "display_name": profile.display_name,
        "note": profile.note,
        "fields": [
            {"name": field.name, "value": field.value, "verified_at": None}
            for field in profile.fields
        ],
        "avatar": avatar,
        "avatar_static": avatar,
        "avatar_description": "",
        "header": header,
        "header_static": header,
        "header_description": "",
        "locked": profile.is_locked,
        "bot": profile.is_bot,
        "hide_collections": profile.hides_collections,
        "discoverable": profile.is_discoverable,
        "indexable": profile.is_indexable,
        "show_media": True,
        "show_media_replies": True,
        "show_featured": True,
        "attribution_domains": [],
    }
