"""Routes of OAuth2 and of default avatars."""

from django.urls import path

from accounts.api.views.discovery import UserInfoView
from accounts.api.views.oauth import RevokeView, TokenView
from accounts.default_avatar import draw_default_avatar

urlpatterns = [
    path("oauth/token", TokenView.as_view()),
    path("oauth/revoke", RevokeView.as_view()),
    path("oauth/userinfo", UserInfoView.as_view()),
    path("avatars/<int:colour>/<str:letter>.svg", draw_default_avatar),
]
