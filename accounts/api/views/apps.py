"""Registration of API clients, and the application of a token."""

from typing import Any

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.actions.register_application import register_application
from accounts.api import schema
from accounts.api.quotas import APPLICATIONS
from accounts.models import Application
from accounts.scopes import DEFAULT
from accounts.types import NewApplication
from accounts.vapid import vapid_public_key
from infra.api.endpoint import Endpoint
from infra.api.nested import find_texts
from infra.api.parsing import read_text
from infra.api.rendering import NO_STORE, json_response
from infra.api.request import ApiRequest


class AppsView(Endpoint):
    """Register an API client. The secret is shown only once."""

    public = True
    authentication_classes = ()

    @extend_schema(request=schema.NewApplicationBody, responses=schema.CredentialApplicationEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        APPLICATIONS.charge(request._request)
        application, secret = register_application(_new_application(request))
        keys = {
            "client_id": application.client_id,
            "client_secret": secret,
            "client_secret_expires_at": 0,
        }
        return json_response(orjson.dumps(_entity(application) | keys), headers=NO_STORE)


class AppCredentialsView(Endpoint):
    """The application that a token was issued to."""

    needs_user = False

    @extend_schema(responses=schema.ApplicationEntity)
    def get(self, request: ApiRequest) -> HttpResponse:
        application = Application.objects.get(pk=request.user.application_id)
        return json_response(orjson.dumps(_entity(application)))


def _new_application(request: ApiRequest) -> NewApplication:
    return NewApplication(
        name=read_text(request.data, "client_name"),
        redirect_uris=_read_uris(request),
        scopes=read_text(request.data, "scopes") or DEFAULT,
        website=read_text(request.data, "website"),
    )


def _read_uris(request: ApiRequest) -> str:
    """One text, separated by blanks; newer clients send a list."""
    return " ".join(find_texts(request.data, "redirect_uris") or ())


def _entity(application: Application) -> dict[str, Any]:
    uris = application.redirect_uris.split()
    return {
        "id": str(application.pk),
        "name": application.name,
        "website": application.website or None,
        "scopes": application.scopes.split(),
        "redirect_uri": "\n".join(uris),
        "redirect_uris": uris,
        "vapid_key": vapid_public_key(),
    }
