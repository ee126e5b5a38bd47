"""The second step of signing in, and of opening the admin with a session from before it."""

from typing import Any

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME, authenticate
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.utils.functional import cached_property
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters

from accounts.models import User
from accounts.second_step.passkeys import ask_for_passkey
from accounts.second_step.queries import read_second_step
from accounts.second_step.types import Code, PasskeyAnswer, Proof
from infra.api.parsing import read_text
from pages.sessions import start_session
from pages.signing_in import FIRST_STEP, find_first_step
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.sign_up import UNPROCESSABLE

ASKED = "asked_for_passkey"
WRONG_CODE = _("This code is wrong, was used, or is of another time")
WRONG_PASSKEY = _("This passkey was not accepted. Try again")


@method_decorator(sensitive_post_parameters(), name="dispatch")
class SecondStepPage(WebPage):
    """Asks the person who gave the right password, or who is signed in, for a code or a passkey."""

    is_secret = True

    @cached_property
    def person(self) -> tuple[User, str] | None:
        """Who is asked, and where they go then."""
        if first := find_first_step(self.request):
            return first
        user = self.request.user
        there = self.request.GET.get(REDIRECT_FIELD_NAME, "")
        is_ours = url_has_allowed_host_and_scheme(there, allowed_hosts=None)
        if not user.is_authenticated:
            return None
        return User.objects.get(pk=user.pk), there if is_ours else "/"

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._ask(self.person[0]) if self.person else self._begin_again()

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Raises: TooManyRequests, InvalidRequest."""
        if self.person is None:
            return self._begin_again()
        person, there = self.person
        proof = self._read_proof()
        user = authenticate(request, username=person.username, proof=proof)
        # The password may be another one since the first step: that of then counts.
        if not isinstance(user, User) or user.password != person.password:
            fault = WRONG_CODE if isinstance(proof, Code) else WRONG_PASSKEY
            return self._ask(person, fault)
        request.session.pop(FIRST_STEP, None)
        answer = HttpResponseRedirect(there, status=303)
        start_session(request, answer, user)
        return answer

    def _read_proof(self) -> Proof:
        """The question of a passkey is forgotten before its answer is looked at."""
        state = self.request.session.pop(ASKED, None)
        self.request.session.save()
        answer = read_text(self.request.POST, "passkey")
        if answer:
            return PasskeyAnswer(state or {}, answer)
        return Code(read_text(self.request.POST, "code"))

    def _ask(self, user: User, fault: str = "") -> HttpResponse:
        has = read_second_step(user.pk)
        if not (has.app or has.passkeys):
            return HttpResponseRedirect("/settings/second_step", status=303)
        context: dict[str, Any] = {"has": has, "fault": fault, "options": ""}
        if has.passkeys:
            question = ask_for_passkey(self.request, user)
            self.request.session[ASKED] = question.state
            context["options"] = question.options
        return self.draw_card("second_step.html", context, UNPROCESSABLE if fault else 200)

    def _begin_again(self) -> HttpResponse:
        return HttpResponseRedirect(settings.LOGIN_URL, status=303)
