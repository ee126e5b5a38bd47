"""The pages on which a user authorizes an application."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.views import AuthorizationView

from accounts.oauth import OUT_OF_BAND
from infra.api.parsing import read_flag


class AuthorizePage(AuthorizationView):
    """Asks a signed-in user to authorize an application, and lists its scopes."""

    template_name = "accounts/authorize.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """With `force_login` always shows the sign-in page, to add another account.

        A session ends only when the person signs in again: any site can send a browser here.
        """
        if request.method == "GET" and read_flag(request.GET.get("force_login"), False):
            query = request.GET.copy()
            del query["force_login"]
            return redirect_to_login(f"{request.path}?{query.urlencode()}")
        return super().dispatch(request, *args, **kwargs)

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """Redirects to the application; shows the code if the application has no address.

        The address is registered, so its scheme was validated at registration.
        """
        address = urlsplit(redirect_to)
        if redirect_to.startswith(OUT_OF_BAND):
            answer = {name: values[0] for name, values in parse_qs(address.query).items()}
            return render(self.request, "accounts/code.html", {"answer": answer})
        return OAuth2ResponseRedirect(redirect_to, [address.scheme])
