"""Routes of accounts' API, and of images."""

from django.urls import path

from accounts.api.views import absent_features, discovery, instance
from accounts.api.views.accounts import AccountsView, AccountView, LookupView
from accounts.api.views.apps import AppCredentialsView, AppsView
from accounts.api.views.credentials import (
    AvatarView,
    HeaderView,
    PreferencesView,
    UpdateCredentialsView,
    VerifyCredentialsView,
)
from accounts.images.api.views import MediaView, MediumView, serve_file

urlpatterns = [
    path("api/v1/accounts/verify_credentials", VerifyCredentialsView.as_view()),
    path("api/v1/accounts/update_credentials", UpdateCredentialsView.as_view()),
    path("api/v1/accounts/lookup", LookupView.as_view()),
    path("api/v1/accounts/<account:account_id>", AccountView.as_view()),
    path("api/v1/accounts", AccountsView.as_view()),
    path("api/v1/profile/avatar", AvatarView.as_view()),
    path("api/v1/profile/header", HeaderView.as_view()),
    path("api/v1/preferences", PreferencesView.as_view()),
    path("api/v1/apps/verify_credentials", AppCredentialsView.as_view()),
    path("api/v1/apps", AppsView.as_view()),
    path("api/v1/instance", instance.InstanceView.as_view()),
    path("api/v2/instance", instance.InstanceV2View.as_view()),
    path("api/v1/instance/languages", instance.LanguagesView.as_view()),
    path("api/v1/instance/extended_description", instance.ExtendedDescriptionView.as_view()),
    path("api/v1/instance/privacy_policy", instance.PrivacyPolicyView.as_view()),
    path("api/v1/instance/peers", absent_features.PeersView.as_view()),
    path("api/v1/instance/rules", instance.RulesView.as_view()),
    path("api/v1/custom_emojis", absent_features.CustomEmojisView.as_view()),
    path("api/v1/announcements", absent_features.AnnouncementsView.as_view()),
    path("api/v1/emails/confirmations", absent_features.EmailConfirmationsView.as_view()),
    path("api/v1/domain_blocks", absent_features.DomainBlocksView.as_view()),
    path(".well-known/nodeinfo", discovery.NodeInfoLinksView.as_view()),
    path("nodeinfo/2.0", discovery.NodeInfoView.as_view(version="2.0")),
    path("nodeinfo/2.1", discovery.NodeInfoView.as_view(version="2.1")),
    path(".well-known/host-meta", discovery.HostMetaView.as_view()),
    path(".well-known/host-meta.json", discovery.HostMetaJsonView.as_view()),
    path(".well-known/webfinger", discovery.WebFingerView.as_view()),
    path(".well-known/oauth-authorization-server", discovery.AuthorizationServerView.as_view()),
    path("api/v2/media", MediaView.as_view()),
    path("api/v1/media", MediaView.as_view()),
    path("api/v1/media/<str:media_id>", MediumView.as_view()),
    path("media/<path:name>", serve_file),
]
