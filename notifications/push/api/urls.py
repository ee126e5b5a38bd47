"""Routes of Web Push."""

from django.urls import path

from notifications.push.api.views import SubscriptionView

urlpatterns = [path("api/v1/push/subscription", SubscriptionView.as_view())]
