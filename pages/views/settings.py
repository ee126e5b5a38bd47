"""Settings of the profile and of privacy, by the API."""

from abc import ABC, abstractmethod
from itertools import zip_longest
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase

from accounts.actions.update_profile import choose_language
from pages.api_client import ApiRefused
from pages.appearance import (
    CHOICES,
    UTC_NAME,
    browser_zone_of,
    keep_appearance,
    known_appearance,
    zone_names,
)
from pages.composer import QUOTERS
from pages.sessions import find_session
from pages.site import site_languages
from pages.texts import later as _
from pages.views.base import WebPage

UNPROCESSABLE = 422
UPDATE = "/api/v1/accounts/update_credentials"
# What the rows of profile fields suggest.
FIELD_NAMES = (_("Website"), _("Pronouns"), _("Town"), _("More"))
FIELDS = len(FIELD_NAMES)
PICTURES = ("avatar", "header")
# Which replies of the people one follows the home timeline shows.
HOME_REPLIES = {
    "followed": _("Replies to anyone I follow"),
    "all": _("All replies"),
    "none": _("Only replies to me"),
}


class SettingsPage(WebPage):
    """The list of all settings."""

    needs_viewer = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw("settings/index.html", {})


class AppearanceSettings(WebPage):
    """How the pages look in this browser. Guests may choose too. The language is of the account:
    mails have it, and the person's other browsers get it at their next sign-in.
    """

    def get(self, request: HttpRequest) -> HttpResponseBase:
        context = {
            "choices": CHOICES,
            "zones": (UTC_NAME, *zone_names()),
            "browser_zone": browser_zone_of(request),
            "languages": tuple(settings.LANGUAGES),
            "is_saved": "saved" in request.GET,
        }
        return self.draw("settings/appearance.html", context)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        answer = HttpResponseRedirect(f"{request.path}?saved", status=303)
        look = known_appearance(request.POST.dict())
        session = find_session(request)
        if session is not None:
            choose_language(session.user_id or 0, look.language)
        keep_appearance(answer, look)
        return answer


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
            self.save(request, sent)
        except ApiRefused as refusal:
            if refusal.status != UNPROCESSABLE:
                raise
            return self._draw({**(self.viewer or {}), **sent}, refusal.message, UNPROCESSABLE)
        return self.go_back(f"{request.path}?saved")

    def save(self, request: HttpRequest, sent: dict[str, Any]) -> None:
        """Raises: ApiRefused."""
        self.api.send("PATCH", UPDATE, sent)

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
            "is_saved": "saved" in self.request.GET, "languages": site_languages(self.api),
            "field_names": FIELD_NAMES,
        }  # fmt: skip
        return self.draw(self.template, context, status)


class ProfileSettings(AccountSettings):
    """The texts and the pictures of one's own page. `remove`: a picture that is taken off."""

    template = "settings/profile.html"

    def read(self, request: HttpRequest) -> dict[str, Any]:
        sent = request.POST
        texts = {name: sent.get(name, "") for name in ("display_name", "note")}
        # The page of a new account has no more.
        if "field_name" not in sent:
            return texts
        return {**texts, "bot": "bot" in sent, "fields_attributes": _read_fields(sent)}

    def save(self, request: HttpRequest, sent: dict[str, Any]) -> None:
        super().save(request, sent)
        if (removed := request.POST.get("remove")) in PICTURES:
            self.api.send("DELETE", f"/api/v1/profile/{removed}")
        for name in PICTURES:
            if file := request.FILES.get(name):
                # One more than is allowed is enough for the refusal.
                content = file.read(settings.MEDIA_MAX_BYTES + 1)
                self.api.upload(UPDATE, name, content, "PATCH")


class PrivacySettings(AccountSettings):
    template = "settings/privacy.html"
    quoters = QUOTERS
    home_replies = HOME_REPLIES

    def read(self, request: HttpRequest) -> dict[str, Any]:
        sent = request.POST
        flags = ("locked", "discoverable", "indexable", "hide_collections")
        source = {
            "privacy": sent.get("privacy", ""),
            "sensitive": "sensitive" in sent,
            "language": sent.get("language", ""),
            "quote_policy": sent.get("quote_policy", ""),
            "home_replies": sent.get("home_replies", ""),
        }
        return {**{name: name in sent for name in flags}, "source": source}


def _read_fields(sent: QueryDict) -> list[dict[str, str]]:
    """The rows of the profile. A value without a name has the name that its row suggests."""
    names, values = sent.getlist("field_name"), sent.getlist("field_value")
    rows = zip_longest(names, values, FIELD_NAMES, fillvalue="")
    return [
        {"name": name or (str(suggested) if value else ""), "value": value}
        for name, value, suggested in rows
    ]
