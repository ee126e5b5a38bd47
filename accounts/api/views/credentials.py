"""The caller's own account: read it, change it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser

from accounts.actions.update_profile import check_profile_edit, update_profile
from accounts.api import schema
from accounts.api.present import present_credentials, present_preferences
from accounts.api.profile_edits import find_picture, read_profile_edit
from accounts.api.quotas import UPLOADS
from accounts.images.actions.store_image import store_image
from accounts.images.types import Purpose
from accounts.queries.load import get_account_json
from accounts.queries.profiles import get_preferences, get_source
from accounts.types import NO_PICTURE, ProfileEdit, ProfilePicture
from infra.api.endpoint import Endpoint
from infra.api.parsing import UploadJsonParser, UploadParser
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.moving import beginning_again

PICTURES = {"avatar": Purpose.AVATAR, "header": Purpose.HEADER}


class VerifyCredentialsView(Endpoint):
    """The account of the token."""

    scopes = {"GET": "profile"}

    @extend_schema(responses=schema.CredentialAccountEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer_credentials(request.account_id)


class UpdateCredentialsView(Endpoint):
    """Change parts of my profile. Fields that are not sent stay as they are.

    `avatar` and `header` may be images in a form, or `data:` addresses with base64.
    `DELETE /api/v1/profile/avatar` removes one.
    """

    scopes = {"PATCH": "write:accounts"}
    parser_classes = [UploadJsonParser, FormParser, UploadParser]

    @extend_schema(request=schema.ProfileEditBody, responses=schema.CredentialAccountEntity)
    def patch(self, request: ApiRequest) -> HttpResponse:
        edit_profile(request.account_id, request.data)
        return _answer_credentials(request.account_id)


class AvatarView(Endpoint):
    """My avatar. Without one, clients get the picture that all new accounts have."""

    scopes = {"DELETE": "write:accounts"}

    @extend_schema(responses={200: schema.CredentialAccountEntity})
    def delete(self, request: ApiRequest) -> HttpResponse:
        update_profile(request.account_id, ProfileEdit(avatar=NO_PICTURE))
        return _answer_credentials(request.account_id)


class HeaderView(Endpoint):
    """My header, as my avatar."""

    scopes = {"DELETE": "write:accounts"}

    @extend_schema(responses={200: schema.CredentialAccountEntity})
    def delete(self, request: ApiRequest) -> HttpResponse:
        update_profile(request.account_id, ProfileEdit(header=NO_PICTURE))
        return _answer_credentials(request.account_id)


class PreferencesView(Endpoint):
    """What my new posts get where I say nothing, and what home shows. `source` of
    `update_credentials` changes them."""

    scopes = {"GET": "read:accounts"}

    @extend_schema(responses=schema.PreferencesEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return json_response(present_preferences(get_preferences(request.account_id)))


def edit_profile(account_id: int, data: Mapping[str, Any]) -> None:
    """Changes what a request sent, and stores its pictures. Raises: as `read_profile_edit`,
    `update_profile` and `store_image`."""
    edit = read_profile_edit(data)
    check_profile_edit(edit)
    pictures = {
        name: _store(account_id, content, purpose)
        for name, purpose in PICTURES.items()
        if (content := find_picture(data, name)) is not None
    }
    update_profile(account_id, msgspec.structs.replace(edit, **pictures))


def _store(account_id: int, content: bytes, purpose: Purpose) -> ProfilePicture:
    UPLOADS.charge(account_id)
    stored = store_image(account_id, content, purpose, datetime.now(UTC))
    return ProfilePicture(stored.id, stored.names.original)


@beginning_again
def _answer_credentials(account_id: int) -> HttpResponse:
    source = get_source(account_id)
    account = get_account_json(account_id, is_own=True)
    return json_response(present_credentials(account, source))
