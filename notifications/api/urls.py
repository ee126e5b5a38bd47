"""Routes of notifications and of Web Push."""

from django.urls import path

from notifications.api import policy_views, views
from notifications.push.api.views import SubscriptionView

V1, V2 = "api/v1/notifications", "api/v2/notifications"
REQUESTS = f"{V1}/requests"
REQUEST = f"{REQUESTS}/<account:account_id>"
ONE, GROUP = f"{V1}/<int:notification_id>", f"{V2}/<str:group_key>"

urlpatterns = [
    path("api/v1/push/subscription", SubscriptionView.as_view()),
    path(V1, views.NotificationsView.as_view()),
    path(f"{V1}/unread_count", views.UnreadCountView.as_view()),
    path(f"{V1}/clear", views.ClearView.as_view()),
    path(f"{V1}/policy", policy_views.PolicyV1View.as_view()),
    path(REQUESTS, policy_views.NotificationRequestsView.as_view()),
    path(f"{REQUESTS}/merged", policy_views.MergedView.as_view()),
    path(f"{REQUESTS}/accept", policy_views.AcceptRequestsView.as_view()),
    path(f"{REQUESTS}/dismiss", policy_views.DismissRequestsView.as_view()),
    path(REQUEST, policy_views.NotificationRequestView.as_view()),
    path(f"{REQUEST}/accept", policy_views.AcceptRequestView.as_view()),
    path(f"{REQUEST}/dismiss", policy_views.DismissRequestView.as_view()),
    path(ONE, views.NotificationView.as_view()),
    path(f"{ONE}/dismiss", views.DismissView.as_view()),
    path(V2, views.GroupsView.as_view()),
    path(f"{V2}/unread_count", views.UnreadGroupsView.as_view()),
    path(f"{V2}/policy", policy_views.PolicyView.as_view()),
    path(GROUP, views.GroupView.as_view()),
    path(f"{GROUP}/accounts", views.GroupAccountsView.as_view()),
    path(f"{GROUP}/dismiss", views.DismissGroupView.as_view()),
]
