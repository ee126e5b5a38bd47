"""A new password for a person who does not know the old one, by a link in a mail."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters

from accounts.actions.change_password import ask_password_reset, change_password
from accounts.api.quotas import PASSWORD_RESETS, PASSWORDS
from accounts.errors import PasswordReplaced
from accounts.mails import find_user_of_link
from infra.api.errors import ValidationFailed
from infra.api.parsing import read_text
from pages.refusals import refusal_text
from pages.signing_in import sign_in
from pages.views.base import WebPage
from pages.views.sign_up import UNPROCESSABLE

GONE = 410


class PasswordForgottenPage(WebPage):
    """Asks for a mail. The answer is the same for every name."""

    is_secret = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.draw_card("password_forgotten.html", {"can_send": bool(settings.MAIL_URL)})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Raises: TooManyRequests, InvalidRequest."""
        PASSWORD_RESETS.charge(request)
        ask_password_reset(read_text(request.POST, "name").strip())
        return self.draw_card("password_asked.html", {})


@method_decorator(sensitive_post_parameters(), name="dispatch")
class NewPasswordPage(WebPage):
    """The page that the link in the mail leads to."""

    is_secret = True

    def get(self, request: HttpRequest, user_id: int, token: str) -> HttpResponseBase:
        user = find_user_of_link(user_id, token)
        return self.draw_card("new_password.html", {"user_of_link": user}, 200 if user else GONE)

    def post(self, request: HttpRequest, user_id: int, token: str) -> HttpResponseBase:
        """Raises: TooManyRequests, InvalidRequest."""
        PASSWORDS.charge(request)
        user = find_user_of_link(user_id, token)
        if user is None:
            return self._say_gone()
        try:
            change_password(user, read_text(request.POST, "password"))
        except ValidationFailed as refusal:
            return self._ask_again(user, refusal)
        except PasswordReplaced:
            return self._say_gone()
        return sign_in(request, self.go_back("/"), user)

    def _say_gone(self) -> HttpResponse:
        return self.draw_card("new_password.html", {"user_of_link": None}, GONE)

    def _ask_again(self, user: object, refusal: ValidationFailed) -> HttpResponse:
        context = {"user_of_link": user, "fault": refusal_text(str(refusal.faults[0]))}
        return self.draw_card("new_password.html", context, UNPROCESSABLE)
