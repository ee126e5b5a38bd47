"""Creating an account. The checks, limits and texts are those of the API."""

from datetime import UTC, datetime

from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters

from accounts.actions.sign_up import sign_up
from accounts.actions.update_profile import choose_language
from accounts.api.quotas import SIGN_UPS
from accounts.errors import PasswordsBusy
from accounts.models import User
from accounts.site_texts.queries import get_site_description
from accounts.types import NewUser
from infra.api.errors import TidelineError, TooManyRequests, ValidationFailed
from infra.api.parsing import read_flag, read_text
from infra.languages import page_language
from pages.refusals import refusal_text
from pages.signing_in import sign_in
from pages.views.base import Context, WebPage

UNPROCESSABLE = 422


@method_decorator(sensitive_post_parameters(), name="dispatch")
class SignUpPage(WebPage):
    is_secret = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._draw({"next": request.GET.get("next", "")})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Raises: InvalidRequest."""
        try:
            SIGN_UPS.charge(request)
            new = _read_new_user(request)
            user = User.objects.get(pk=sign_up(new, datetime.now(UTC)))
        except ValidationFailed as refusal:
            account = _find_earlier(request, new, refusal)
            if account is None:
                return self._ask_again(refusal)
            user = account
        except (PasswordsBusy, TooManyRequests) as refusal:
            return self._ask_later(refusal)
        user.language = page_language()
        choose_language(user.pk, user.language)
        return sign_in(request, self.go_back("/welcome"), user)

    def _ask_later(self, refusal: TidelineError) -> HttpResponse:
        """What was typed stays, but for the password."""
        sent = self.request.POST
        context = {"fault": refusal_text(str(refusal)), "sent": sent, "next": sent.get("next", "")}
        answer = self._draw(context, refusal.status)
        answer["Retry-After"] = refusal.headers["Retry-After"]
        return answer

    def _ask_again(self, refusal: ValidationFailed) -> HttpResponse:
        sent = self.request.POST
        # The first fault of each field.
        faults = {fault.field: refusal_text(str(fault)) for fault in reversed(refusal.faults)}
        context = {"faults": faults, "sent": sent, "next": sent.get("next", "")}
        return self._draw(context, UNPROCESSABLE)

    def _draw(self, context: Context, status: int = 200) -> HttpResponse:
        """With the rules that a new person accepts."""
        texts = {"texts": get_site_description()}
        return self.draw_card("sign_up.html", {**context, **texts}, status)


def _read_new_user(request: HttpRequest) -> NewUser:
    return NewUser(
        username=read_text(request.POST, "username"),
        email=read_text(request.POST, "email"),
        password=read_text(request.POST, "password"),
        agreement=read_flag(request.POST, "agreement"),
    )


def _find_earlier(request: HttpRequest, new: NewUser, refusal: ValidationFailed) -> User | None:
    """The user that the same form has created a moment ago, as after a double click."""
    if not any(fault.code == "ERR_TAKEN" for fault in refusal.faults):
        return None
    user = authenticate(request, username=new.username, password=new.password)
    return user if isinstance(user, User) else None
