"""The caller's own account: read it, change it."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.actions.update_profile import update_profile
from accounts.api import schema
from accounts.api.present import present_credentials
from accounts.api.profile_edits import read_profile_edit
from accounts.errors import AccountNotFound
from accounts.queries.load import get_account_json
from accounts.queries.profiles import find_profile
from infra.api.endpoint import Endpoint
from infra.api.rendering import json_response
from infra.api.request import ApiRequest


class VerifyCredentialsView(Endpoint):
    """The account of the token."""

    scopes = {"GET": "profile"}

    @extend_schema(responses=schema.CredentialAccountEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        return _answer_credentials(request.account_id)


class UpdateCredentialsView(Endpoint):
    """Change parts of my profile. Fields that are not sent stay as they are."""

    scopes = {"PATCH": "write:accounts"}

    @extend_schema(request=schema.ProfileEditBody, responses=schema.CredentialAccountEntity)
    def patch(self, request: ApiRequest) -> HttpResponse:
        update_profile(request.account_id, read_profile_edit(request.data))
        return _answer_credentials(request.account_id)


def _answer_credentials(account_id: int) -> HttpResponse:
    profile = find_profile(account_id)
    if profile is None:
        raise AccountNotFound
    account = get_account_json(account_id, is_own=True)
    return json_response(present_credentials(account, profile.note))
