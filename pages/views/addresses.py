"""A new e-mail address: the form that asks for it, and the page that the link in the mail opens."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from accounts.actions.change_email import ask_email_change, change_email
from accounts.api.quotas import EMAIL_CHANGES
from accounts.errors import LinkEnded
from accounts.mails import ADDRESS_PATH, find_address_of_link, proves_address
from infra.api.errors import ValidationFailed
from infra.api.parsing import read_text
from pages.refusals import refusal_text
from pages.views.own_account import OwnAccountPage


class EmailSettings(OwnAccountPage):
    """Asks for the new address and the password. The answer is the same for a taken address."""

    template = "settings/email.html"

    def more(self) -> dict[str, Any]:
        is_changed = "changed" in self.request.GET
        return {**super().more(), "can_send": bool(settings.MAIL_URL), "is_changed": is_changed}

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Raises: TooManyRequests."""
        EMAIL_CHANGES.charge(request)
        if not self.is_proved():
            return self.ask_again()
        try:
            ask_email_change(self.user, read_text(request.POST, "email").strip())
        except ValidationFailed as refusal:
            return self.ask(refusal_text(str(refusal.faults[0])))
        return HttpResponseRedirect(f"{ADDRESS_PATH}?saved", status=303)


class NewAddressPage(OwnAccountPage):
    """The page of the link. Programs that look at mails open links: a button changes the address.

    Only the signed-in user can use it: the mail of a mistyped address gives a stranger nothing.
    """

    template = "settings/new_address.html"

    def get(self, request: HttpRequest, **link: str) -> HttpResponseBase:
        """Raises: LinkEnded."""
        if not proves_address(self.user, self._read(link["address"]), link["token"]):
            raise LinkEnded
        return self.ask()

    def post(self, request: HttpRequest, address: str, token: str) -> HttpResponseBase:
        """Raises: LinkEnded."""
        try:
            change_email(self.user.pk, self._read(address), token)
        except ValidationFailed as refusal:
            return self.ask(refusal_text(str(refusal.faults[0])))
        return HttpResponseRedirect(f"{ADDRESS_PATH}?changed", status=303)

    def more(self) -> dict[str, Any]:
        return {**super().more(), "email": self._read(self.kwargs["address"])}

    def _read(self, address: str) -> str:
        email = find_address_of_link(address)
        if email is None:
            raise LinkEnded
        return email
