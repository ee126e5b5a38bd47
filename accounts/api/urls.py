"""Routes of accounts' API."""

from django.urls import path

from accounts.api.views.accounts import AccountsView, AccountView, LookupView
from accounts.api.views.apps import AppCredentialsView, AppsView
from accounts.api.views.credentials import UpdateCredentialsView, VerifyCredentialsView
from accounts.api.views.instance import InstanceV2View, InstanceView

urlpatterns = [
    path("api/v1/accounts/verify_credentials", VerifyCredentialsView.as_view()),
    path("api/v1/accounts/update_credentials", UpdateCredentialsView.as_view()),
    path("api/v1/accounts/lookup", LookupView.as_view()),
    path("api/v1/accounts/<account:account_id>", AccountView.as_view()),
    path("api/v1/accounts", AccountsView.as_view()),
    path("api/v1/apps/verify_credentials", AppCredentialsView.as_view()),
    path("api/v1/apps", AppsView.as_view()),
    # Mastodon.py asks with a slash at the end.
    path("api/v1/instance", InstanceView.as_view()),
    path("api/v1/instance/", InstanceView.as_view(schema=None)),
    path("api/v2/instance", InstanceV2View.as_view()),
    path("api/v2/instance/", InstanceV2View.as_view(schema=None)),
]
