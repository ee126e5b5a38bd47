"""Pages about the account itself that the API has no endpoints for. They need a session of ours."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, logout
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.utils.functional import cached_property
from django.views.decorators.debug import sensitive_post_parameters

from accounts.actions.change_password import change_password
from accounts.actions.tokens import end_other_tokens, end_tokens
from accounts.api.quotas import charge_account
from accounts.models import AccessToken, User
from accounts.queries.tokens import list_sessions
from infra.api.errors import TokenInvalid, ValidationFailed
from infra.api.ids import MOST_DIGITS
from infra.api.parsing import read_text
from moderation.actions.by_owner import delete_own_account
from moderation.jobs.export_account import stream_account
from moderation.queries.decisions import list_own_reports
from pages.refusals import refusal_text
from pages.sessions import find_session, forget_person, start_session
from pages.texts import later as _
from pages.views.base import WebPage
from pages.views.sign_up import UNPROCESSABLE

WRONG_PASSWORD = _("This is not your password")
SIGN_IN_AGAIN = _(
    "You signed in too long ago. Sign out and in again, and come back within ten minutes"
)
# A person without a password proves who they are at another site.
FRESH = timedelta(minutes=10)


@method_decorator(sensitive_post_parameters(), name="dispatch")
class OwnAccountPage(WebPage):
    """A page that only a session of the pages may open, not the token of an application."""

    is_secret = True
    needs_viewer = True
    template = ""

    @cached_property
    def session(self) -> AccessToken:
        """Counts for the account. Raises: TokenInvalid, which leads to the sign-in page;
        LoginDisabled, TooManyRequests.
        """
        session = find_session(self.request)
        if session is None:
            raise TokenInvalid
        charge_account(session.user_id or 0)
        return session

    @property
    def user(self) -> User:
        user: User = self.session.user
        return user

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self.ask()

    def ask(self, fault: str = "") -> HttpResponse:
        """The form, with what is wrong with the last one that was sent."""
        context = {"fault": fault, "is_saved": "saved" in self.request.GET, **self.more()}
        return self.draw(self.template, context, UNPROCESSABLE if fault else 200)

    def more(self) -> dict[str, Any]:
        return {"user": self.user, "has_password": self.user.has_usable_password()}

    def ask_again(self) -> HttpResponse:
        """The form, when `is_proved` is false."""
        return self.ask(WRONG_PASSWORD if self.user.has_usable_password() else SIGN_IN_AGAIN)

    def is_proved(self, name: str = "password") -> bool:
        """Whether the form has the password; for a person without one, whether they have just
        signed in. Tries count with those of signing in. Raises: TooManyRequests.
        """
        if not self.user.has_usable_password():
            return self.session.created > datetime.now(UTC) - FRESH
        given = read_text(self.request.POST, name)
        user = authenticate(self.request, username=self.user.username, password=given)
        if not isinstance(user, User) or user.pk != self.user.pk:
            return False
        self.user.password = user.password  # it may have been hashed again, by a newer method
        return True


class PasswordSettings(OwnAccountPage):
    """Changes the password. All other browsers and applications are signed out."""

    template = "settings/password.html"

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not self.is_proved("current"):
            return self.ask_again()
        user = self.user
        try:
            change_password(user, read_text(request.POST, "password"))
        except ValidationFailed as refusal:
            return self.ask(refusal_text(str(refusal.faults[0])))
        answer = HttpResponseRedirect(f"{request.path}?saved", status=303)
        start_session(request, answer, user)
        return answer


class SessionsPage(OwnAccountPage):
    """The browsers and applications that may use the account."""

    template = "settings/sessions.html"

    def more(self) -> dict[str, Any]:
        page = list_sessions(self.user.pk, self.request.GET.get("max_id", ""))
        return {"sessions": page.items, "older": page.older, "current": self.session.pk}

    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Ends one session, or all but this one. Ending this one signs out."""
        own = AccessToken.objects.filter(user_id=self.user.pk)
        chosen = read_text(request.POST, "session")
        if chosen == "others":
            end_other_tokens(self.user.pk, self.session.pk)
        elif chosen.isascii() and chosen.isdigit() and len(chosen) <= MOST_DIGITS:
            end_tokens(own.filter(pk=int(chosen)))
        return HttpResponseRedirect(f"{request.path}?saved", status=303)


class OwnReportsPage(OwnAccountPage):
    """What became of the reports that the person filed. The API of Mastodon has no such list."""

    template = "settings/reports.html"

    def more(self) -> dict[str, Any]:
        page = list_own_reports(self.user.pk, self.request.GET.get("max_id", ""))
        return {"reports": page.items, "older": page.older}


class ExportPage(OwnAccountPage):
    """An archive with all that the person put in. It is sent while it is written."""

    template = "settings/export.html"

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not self.is_proved():
            return self.ask_again()
        return StreamingHttpResponse(stream_account(self.user.pk), headers=self._headers())

    def _headers(self) -> dict[str, str]:
        name = f"{self.user.username}-{datetime.now(UTC):%Y-%m-%d}.zip"
        return {
            "Content-Type": "application/zip",
            "Content-Disposition": f'attachment; filename="{name}"',
            # It is compressed: GZipMiddleware would do it once more.
            "Content-Encoding": "identity",
        }


class DeleteAccountPage(OwnAccountPage):
    """Deletes the account: nothing of it is shown from now on."""

    template = "settings/delete.html"

    def more(self) -> dict[str, Any]:
        return {**super().more(), "days": settings.SUSPENSION_DAYS}

    def post(self, request: HttpRequest) -> HttpResponseBase:
        if not self.is_proved():
            return self.ask_again()
        delete_own_account(self.user.pk, datetime.now(UTC))
        logout(request)
        answer = self.draw_card("account_deleted.html", {"days": settings.SUSPENSION_DAYS})
        forget_person(answer)
        return answer
