"""Settings of the profile and of privacy, by the API."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.views.base import WebPage

UNPROCESSABLE = 422
UPDATE = "/api/v1/accounts/update_credentials"
FIELDS = 4


class SettingsPage(WebPage):
    """The list of all settings."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw("settings/index.html", {})


class AccountSettings(WebPage, ABC):
    """A form with a part of the account. A class says what to send, and which template it has."""

    needs_viewer = True
    template: ClassVar[str]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._draw(self.viewer or {})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """With a fault the form is shown again, with what was typed."""
        sent = self.read(request)
        try:
            self.api.send("PATCH", UPDATE, sent)
        except ApiRefused as refusal:
            if refusal.status != UNPROCESSABLE:
                raise
            return self._draw({**(self.viewer or {}), **sent}, refusal.message, UNPROCESSABLE)
        return HttpResponseRedirect(f"{request.path}?saved", status=303)

    @abstractmethod
    def read(self, request: HttpRequest) -> dict[str, Any]:
        """What the form sends, as the API names it."""

    def _draw(
        self, account: dict[str, Any], fault: str = "", status: int = 200
    ) -> HttpResponseBase:
        source = account.get("source", {})
        fields = account.get("fields_attributes") or source.get("fields", [])
        blank = [{"name": "", "value": ""}] * (FIELDS - len(fields))
        context = {
            "account": account, "source": source, "fields": [*fields, *blank],
            "note": account.get("note") if fault else source.get("note"), "fault": fault,
            "is_saved": "saved" in self.request.GET,
        }  # fmt: skip
        return self.draw(self.template, context, status)


class ProfileSettings(AccountSettings):
    template = "settings/profile.html"

    def read(self, request: HttpRequest) -> dict[str, Any]:
        sent = request.POST
        names, values = sent.getlist("field_name"), sent.getlist("field_value")
        return {
            "display_name": sent.get("display_name", ""),
            "note": sent.get("note", ""),
            "bot": "bot" in sent,
            "fields_attributes": [
                {"name": name, "value": value} for name, value in zip(names, values, strict=False)
            ],
        }


class PrivacySettings(AccountSettings):
    template = "settings/privacy.html"

    def read(self, request: HttpRequest) -> dict[str, Any]:
        sent = request.POST
        flags = ("locked", "discoverable", "indexable", "hide_collections")
        source = {
            "privacy": sent.get("privacy", ""),
            "sensitive": "sensitive" in sent,
            "language": sent.get("language", ""),
        }
        return {**{name: name in sent for name in flags}, "source": source}
