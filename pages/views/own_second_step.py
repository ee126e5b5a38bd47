"""The person's own second step. It is shown to each session of theirs, and changed in a fresh one.

Fresh: signed in within the last ten minutes, with the second step if there is one.
"""

from abc import ABC, abstractmethod
from base64 import b32encode
from datetime import UTC, datetime
from typing import Any

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext
from django_otp import login as keep_proof
from django_otp.models import Device
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from accounts.second_step.actions import (
    APP_NAME,
    add_app,
    add_passkey,
    remove_app,
    remove_passkey,
    replace_codes,
)
from accounts.second_step.codes import clean_code
from accounts.second_step.errors import PasskeyRefused
from accounts.second_step.passkeys import ask_for_new_passkey
from accounts.second_step.queries import has_second_step, proved_by, read_second_step
from accounts.second_step.types import PasskeyAnswer
from infra.api.errors import TidelineError
from infra.api.ids import MOST_DIGITS
from infra.api.parsing import read_text
from pages.refusals import refusal_text
from pages.texts import later as _
from pages.views.own_account import FRESH, OwnAccountPage

PLACE = "/settings/second_step"
SIGN_IN_PAGE = f"{settings.LOGIN_URL}?next={PLACE}"
APP_KEY, ASKED = "key_of_new_app", "asked_for_new_passkey"
WRONG_CODE = _("This code is wrong. Is the time of your phone right? Try the next code")
NAME_LENGTH = 64


class SecondStepSettings(OwnAccountPage):
    """What the person has, and the way to each change."""

    template = "settings/second_step.html"

    @property
    def is_fresh(self) -> bool:
        """Cost: two queries at most."""
        if self.session.created < datetime.now(UTC) - FRESH:
            return False
        return bool(self._proved_by) or not has_second_step(self.user.pk)

    @property
    def _proved_by(self) -> Device | None:
        user = self.request.user
        return proved_by(user) if user.pk == self.user.pk else None

    def more(self) -> dict[str, Any]:
        return {
            "has": read_second_step(self.user.pk),
            "is_fresh": self.is_fresh,
            "sign_in_page": SIGN_IN_PAGE,
            "is_staff": self.user.is_staff,
        }


class ChangeSecondStep(SecondStepSettings, ABC):
    """One change. A session that is not fresh is sent to the sign-in page, and back."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.ask() if self.is_fresh else HttpResponseRedirect(SIGN_IN_PAGE, status=303)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not self.is_fresh:
            return HttpResponseRedirect(SIGN_IN_PAGE, status=303)
        try:
            return self.change()
        except TidelineError as error:
            return self.ask(refusal_text(str(error)))

    @abstractmethod
    def change(self) -> HttpResponse:
        """Raises: TidelineError, which is shown in the form."""

    def go_on(self, device: Device) -> HttpResponse:
        """After something was added. With the first one come recovery codes."""
        # Also in place of the app that a new one has replaced.
        keep_proof(self.request, device)
        if read_second_step(self.user.pk).codes_left:
            return HttpResponseRedirect(f"{PLACE}?saved", status=303)
        return self.draw("settings/recovery_codes.html", {"codes": replace_codes(self.user)})


class AddApp(ChangeSecondStep):
    """Shows a key as a picture and as text. A code proves that an app has it."""

    template = "settings/second_step_app.html"

    def more(self) -> dict[str, Any]:
        app = TOTPDevice(user=self.user, name=APP_NAME, key=self._key)
        picture = segno.make(app.config_url).svg_data_uri(scale=5, border=2, light="#fff")
        return {**super().more(), "picture": picture, "key": b32encode(app.bin_key).decode()}

    def change(self) -> HttpResponse:
        app = add_app(self.user, self._key, clean_code(read_text(self.request.POST, "code")))
        if app is None:
            return self.ask(WRONG_CODE)
        del self.request.session[APP_KEY]
        return self.go_on(app)

    @property
    def _key(self) -> str:
        """It waits in the session until a code proves it, so a mistyped code changes no key."""
        key: str = self.request.session.setdefault(APP_KEY, random_hex(20))
        return key


class AddPasskey(ChangeSecondStep):
    """Needs a script: only a browser can speak to a passkey."""

    template = "settings/second_step_passkey.html"

    def more(self) -> dict[str, Any]:
        question = ask_for_new_passkey(self.request, self.user)
        self.request.session[ASKED] = question.state
        return {**super().more(), "options": question.options}

    def change(self) -> HttpResponse:
        state = self.request.session.pop(ASKED, None)
        self.request.session.save()
        if state is None:
            raise PasskeyRefused
        answer = PasskeyAnswer(state, read_text(self.request.POST, "passkey"))
        name = read_text(self.request.POST, "name").strip()[:NAME_LENGTH] or gettext("Passkey")
        return self.go_on(add_passkey(self.request, self.user, answer, name))


class NewRecoveryCodes(ChangeSecondStep):
    template = "settings/second_step.html"

    def change(self) -> HttpResponse:
        return self.draw("settings/recovery_codes.html", {"codes": replace_codes(self.user)})


class RemoveFromSecondStep(ChangeSecondStep):
    template = "settings/second_step.html"

    def change(self) -> HttpResponse:
        passkey = read_text(self.request.POST, "passkey")
        if not passkey:
            remove_app(self.user.pk)
        elif passkey.isascii() and passkey.isdigit() and len(passkey) <= MOST_DIGITS:
            remove_passkey(self.user.pk, int(passkey))
        return HttpResponseRedirect(f"{PLACE}?saved", status=303)
