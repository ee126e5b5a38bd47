"""The routes and claims of the provider in tests/oidc_provider.py."""

from typing import Any, ClassVar

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):
    oidc_claim_scope: ClassVar[dict[str, str]] = {
        "sub": "openid",
        "preferred_username": "profile",
        "name": "profile",
    }

    def get_additional_claims(self, request: Any) -> dict[str, str]:
        name = request.user.username
        return {"preferred_username": f"{name}@corp.example", "name": name.title()}


def become(request: HttpRequest, name: str) -> HttpResponse:
    """Signs a browser in without any question."""
    user, _ = User.objects.get_or_create(username=name)
    login(request, user, "django.contrib.auth.backends.ModelBackend")
    return HttpResponse(name)


urlpatterns = [
    path("as/<str:name>", become),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
