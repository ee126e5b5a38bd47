"""Routes of signing in and of OAuth2."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from accounts.api.views.oauth import RevokeView, TokenView
from accounts.pages import AuthorizePage

urlpatterns = [
    path("oauth/authorize", AuthorizePage.as_view()),
    path("oauth/token", TokenView.as_view()),
    path("oauth/revoke", RevokeView.as_view()),
    path("auth/sign_in", LoginView.as_view(template_name="accounts/sign_in.html")),
    path("auth/sign_out", LogoutView.as_view(next_page="/auth/sign_in")),
]
