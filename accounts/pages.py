"""The pages a browser sees while a user lets an application in."""

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
    """Asks a signed-in user whether an application may act for them, and in what."""

    template_name = "accounts/authorize.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """`force_login`: a client adding another account wants the sign-in page in any case."""
        if read_flag(request.GET.get("force_login"), False):
            logout(request)
            query = request.GET.copy()
            del query["force_login"]
            return HttpResponseRedirect(f"{request.path}?{query.urlencode()}")
        return super().get(request, *args, **kwargs)

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """Hands the answer to the application, or shows it when it has no address.

        The address is one that the application registered: any scheme it has was allowed then.
        """
        address = urlsplit(redirect_to)
        if redirect_to.startswith(OUT_OF_BAND):
            answer = {name: values[0] for name, values in parse_qs(address.query).items()}
            return render(self.request, "accounts/code.html", {"answer": answer})
        return OAuth2ResponseRedirect(redirect_to, [address.scheme])
