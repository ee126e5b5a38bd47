"""Signing in with the account of another site (accounts/identities/oidc).

What one step tells the next one is in a signed cookie of this browser, for ten minutes. So a link
that another person began does not sign anyone in.
"""

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.api.quotas import SIGN_UPS, TOKENS
from accounts.errors import AccountProtected, LoginDisabled
from accounts.identities.actions.provision_account import create_bound_account
from accounts.identities.errors import SignInFailed
from accounts.identities.oidc.sign_in import (
    BegunSignIn,
    OidcPerson,
    begin_sign_in,
    finish_sign_in,
)
from accounts.identities.queries import find_bound_account
from accounts.identities.types import ExternalId
from accounts.models import DISPLAY_NAME_LENGTH, User
from accounts.site_texts.queries import get_site_description
from accounts.types import NewUser
from accounts.usernames import propose_username
from infra.api.errors import NotAllowed, NotFound, ValidationFailed
from infra.api.parsing import read_flag, read_text
from pages.refusals import refusal_text
from pages.signing_in import sign_in
from pages.views.base import WebPage
from pages.views.sign_up import UNPROCESSABLE

STEP_COOKIE, PATH = "tideline_oidc", "/auth/oidc"
STEP_S = 600
_SALT = "pages.oidc"
Step = TypeVar("Step", bound="BegunSignIn | NewPerson")


class NewPerson(msgspec.Struct, frozen=True):
    """A person with an account at the provider, and none here yet."""

    issuer: str
    subject: str
    username: str
    name: str
    next: str


class OidcPage(WebPage):
    is_secret = True

    def read_step(self, kind: type[Step]) -> Step:
        """What the step before has told. Raises: SignInFailed, NotFound."""
        require_provider()
        text = self.request.COOKIES.get(STEP_COOKIE, "")
        try:
            told = signing.loads(text, salt=f"{_SALT}.{kind.__name__}", max_age=STEP_S)
            return msgspec.convert(told, kind)
        except (signing.BadSignature, msgspec.ValidationError):
            raise SignInFailed from None

    def go_on(self, address: str, step: BegunSignIn | NewPerson) -> HttpResponse:
        answer = HttpResponseRedirect(address, status=303)
        told = msgspec.to_builtins(step)
        answer.set_cookie(
            STEP_COOKIE,
            signing.dumps(told, salt=f"{_SALT}.{type(step).__name__}"),
            max_age=STEP_S,
            path=PATH,
            httponly=True,
            secure=settings.SESSION_COOKIE_SECURE,
            samesite="Lax",
        )
        return answer

    def sign_in(self, account_id: int, next_page: str) -> HttpResponse:
        """Raises: LoginDisabled; AccountProtected: the admin needs more than another site."""
        user = User.objects.get(pk=account_id)
        if not user.is_active:
            raise LoginDisabled
        if user.is_staff or user.is_superuser:
            raise AccountProtected("Who moderates or operates this site signs in by password")
        is_ours = url_has_allowed_host_and_scheme(next_page, allowed_hosts=None)
        answer = HttpResponseRedirect(next_page if is_ours else "/", status=303)
        answer.delete_cookie(STEP_COOKIE, path=PATH)
        return sign_in(self.request, answer, user)


class OidcStart(OidcPage):
    """Sends the browser to the provider. By POST only, so that no other site can do so."""

    def post(self, request: HttpRequest) -> HttpResponseBase:
        require_provider()
        address, begun = begin_sign_in(read_text(request.POST, "next"))
        return self.go_on(address, begun)


class OidcCallback(OidcPage):
    """The browser is back, with a code or an error."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        begun = self.read_step(BegunSignIn)
        TOKENS.charge(request)
        code, state = read_text(request.GET, "code"), read_text(request.GET, "state")
        person = finish_sign_in(begun, state, code)
        account = find_bound_account(ExternalId(person.sub, person.iss))
        if account is not None:
            return self.sign_in(account.account_id, begun.next)
        if not settings.OIDC_CREATE_ACCOUNTS:
            raise NotAllowed("You have no account here, and the operator creates them")
        return self.go_on(f"{PATH}/sign_up", _new_person(person, begun.next))


class OidcSignUp(OidcPage):
    """Asks a new person for a username, and creates the account."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        person = self.read_step(NewPerson)
        return self._ask({"username": person.username}, {})

    def post(self, request: HttpRequest) -> HttpResponseBase:
        person = self.read_step(NewPerson)
        SIGN_UPS.charge(request)
        new = NewUser(
            username=read_text(request.POST, "username"),
            email="",
            password=None,
            display_name=person.name,
            agreement=read_flag(request.POST, "agreement"),
        )
        identity = ExternalId(person.subject, person.issuer)
        try:
            made = create_bound_account(identity, new, datetime.now(UTC))
        except ValidationFailed as refusal:
            faults = {fault.field: refusal_text(str(fault)) for fault in reversed(refusal.faults)}
            return self._ask(request.POST, faults)
        return self.sign_in(made.account.account_id, person.next)

    def _ask(self, sent: Any, faults: Any) -> HttpResponse:
        texts = get_site_description()
        oidc = {"oidc_name": settings.OIDC_NAME, "texts": texts}
        context = {"sent": sent, "faults": faults, **oidc}
        return self.draw_card("oidc_sign_up.html", context, UNPROCESSABLE if faults else 200)


def require_provider() -> None:
    """Raises: NotFound."""
    if not settings.OIDC_ISSUER:
        raise NotFound


def _new_person(person: OidcPerson, next_page: str) -> NewPerson:
    """With a username to begin with. Many providers have an address there."""
    name = propose_username(person.preferred_username)
    shown = person.name.replace("\x00", "").strip()[:DISPLAY_NAME_LENGTH]
    return NewPerson(person.iss, person.sub, name, shown, next_page)
