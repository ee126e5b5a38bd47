"""The pages on which a user authorizes an application."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.views import AuthorizationView

from accounts.oauth import OUT_OF_BAND
from infra.api.parsing import read_flag


class AuthorizePage(AuthorizationView):
    """Asks a signed-in user to authorize an application, and lists its scopes."""

    template_name = "accounts/authorize.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """With `force_login` always shows the sign-in page, to add another account."""
        if read_flag(request.GET.get("force_login"), False):
            logout(request)
            query = request.GET.copy()
            del query["force_login"]
            return HttpResponseRedirect(f"{request.path}?{query.urlencode()}")
        return super().get(request, *args, **kwargs)

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """Redirects to the application; shows the code if the application has no address.

        The address is registered, so its scheme was validated at registration.
        """
        address = urlsplit(redirect_to)
        if redirect_to.startswith(OUT_OF_BAND):
            answer = {name: values[0] for name, values in parse_qs(address.query).items()}
            return render(self.request, "accounts/code.html", {"answer": answer})
        return OAuth2ResponseRedirect(redirect_to, [address.scheme])
