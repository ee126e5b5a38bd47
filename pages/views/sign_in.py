"""Signing in and out. See pages.sessions."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render

from accounts.models import Application
from infra.api.errors import TooManyRequests
from pages.sessions import end_session
from pages.signing_in import sign_in
from pages.texts import later as _
from pages.views.base import WebPage

AUTHORIZE = "/oauth/authorize"


class SignInForm(AuthenticationForm):
    """Django's, in words that people use."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("The name or the password is wrong."),
    }


class SignInPage(WebPage, LoginView):
    """Starts a session of the pages, and one of Django for the admin and the OAuth screens, or
    leads to the second step.
    """

    is_secret = True
    template_name = "pages/sign_in.html"
    authentication_form = SignInForm

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        """With the application that a person wants to use after signing in."""
        context: dict[str, Any] = super().get_context_data(**options)
        address = urlsplit(context["next"])
        client_id = parse_qs(address.query).get("client_id", [""])[0].replace("\x00", "")
        is_asked = address.path == AUTHORIZE and client_id
        application = Application.objects.filter(client_id=client_id).first() if is_asked else None
        # Django's view calls the host "site".
        oidc_name = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        more = {"application": application, "oidc_name": oidc_name}
        return {**context, **more, "site": settings.INSTANCE_TITLE}

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        answer = HttpResponseRedirect(self.get_success_url())
        return sign_in(self.request, answer, form.get_user())


class SignOut(WebPage):
    """Ends both sessions. By POST only: any site can show an image with this address."""

    def post(self, request: HttpRequest) -> HttpResponseBase:
        answer = HttpResponseRedirect(settings.LOGIN_URL, status=303)
        end_session(request, answer)
        logout(request)
        return answer


def draw_locked_out(request: HttpRequest, answer: HttpResponse, __: object) -> HttpResponse:
    """The page of the sign-in guard after the failure that was one too many.

    A try after that is refused with a status of its own, and its answer stays as it is.
    """
    if answer.status_code == TooManyRequests.status:
        return answer
    page = render(request, "pages/locked_out.html", status=TooManyRequests.status)
    page["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    page["Cache-Control"] = "private, no-store"
    return page
