"""The pages on which a user authorizes an application."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.decorators.cache import cache_control
from oauth2_provider.http import OAuth2ResponseRedirect
from oauth2_provider.views import AuthorizationView

from accounts.api.quotas import charge_account, charge_address
from accounts.models import Application
from accounts.oauth import OUT_OF_BAND
from accounts.oauth_parameters import (
    LONGEST,
    LONGEST_SCOPE,
    OAuthParameterRefused,
    check_challenge,
    clean_scope,
    read_query,
)
from accounts.queries.load import load_account_json
from infra.api.errors import TooManyRequests
from infra.api.parsing import FLAG_WORDS
from pages.refusals import refusal_text


def _hidden(most: int = LONGEST, is_required: bool = True) -> forms.CharField:
    return forms.CharField(max_length=most, required=is_required, widget=forms.HiddenInput())


class ConsentForm(forms.Form):
    """What the consent page sends back. The toolkit's form also stores fields of OpenID Connect."""

    allow = forms.BooleanField(required=False)
    client_id = _hidden()
    redirect_uri = _hidden()
    response_type = _hidden()
    scope = _hidden(LONGEST_SCOPE)
    state = _hidden(is_required=False)
    code_challenge = _hidden(is_required=False)
    code_challenge_method = _hidden(is_required=False)

    def clean_client_id(self) -> str:
        client_id: str = self.cleaned_data["client_id"]
        if not Application.objects.filter(client_id=client_id).exists():
            raise forms.ValidationError(gettext("There is no such application."))
        return client_id

    def clean_scope(self) -> str:
        return clean_scope(self.cleaned_data["scope"])

    def clean(self) -> None:
        try:
            check_challenge(self.cleaned_data)
        except OAuthParameterRefused as error:
            raise forms.ValidationError(refusal_text(str(error))) from None


@method_decorator(cache_control(private=True, no_store=True), name="dispatch")
class AuthorizePage(AuthorizationView):
    """Asks a signed-in user to authorize an application, and lists its scopes."""

    template_name = "pages/oauth/authorize.html"
    form_class = ConsentForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """With `force_login` always shows the sign-in page, to add another account.

        A session ends only when the person signs in again: any site can send a browser here. Each
        request counts against the quota of the account, because it may write a code; without an
        account against that of the address.
        """
        try:
            request.GET = read_query(request.GET)
            _charge(request)
        except OAuthParameterRefused as error:
            return self._refuse(refusal_text(str(error)))
        except TooManyRequests as error:
            return self._refuse_for_now(error)
        if request.method == "GET" and _is_forced(request):
            query = request.GET.copy()
            del query["force_login"]
            return redirect_to_login(f"{request.path}?{query.urlencode()}")
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        """With the account that is signed in, and the way to the same question for another one."""
        query = self.request.GET.copy()
        query["force_login"] = "true"
        profiles = load_account_json([self.request.user.pk or 0])
        account = orjson.loads(next(iter(profiles.values()), b"{}"))
        other = f"{self.request.path}?{query.urlencode()}"
        context: dict[str, Any] = super().get_context_data(**more)
        return {**context, "account": account, "other_account": other}

    def form_invalid(self, form: ConsentForm) -> HttpResponse:
        """Browsers send the form as they got it, so these are requests that were made by hand."""
        return self._refuse(
            "; ".join(f"{name}: {errors[0]}" for name, errors in form.errors.items())
        )

    def _refuse(self, description: str) -> HttpResponse:
        error = {"error": "invalid_request", "description": description}
        return render(self.request, self.template_name, {"error": error}, status=400)

    def _refuse_for_now(self, error: TooManyRequests) -> HttpResponse:
        content = {"error": "too_many_requests", "description": gettext("Please try again later.")}
        answer = render(self.request, self.template_name, {"error": content}, status=error.status)
        answer["Retry-After"] = error.headers["Retry-After"]
        return answer

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """Redirects to the application; shows the code if the application has no address.

        The address is registered, so its scheme was validated at registration.
        """
        address = urlsplit(redirect_to)
        if redirect_to.startswith(OUT_OF_BAND):
            answer = {name: values[0] for name, values in parse_qs(address.query).items()}
            return render(self.request, "pages/oauth/code.html", {"answer": answer})
        return OAuth2ResponseRedirect(redirect_to, [address.scheme])


def _charge(request: HttpRequest) -> None:
    if request.user.pk is None:
        charge_address(request)
    else:
        charge_account(request.user.pk)


def _is_forced(request: HttpRequest) -> bool:
    return FLAG_WORDS.get(request.GET.get("force_login", "").lower(), True)
