"""The routes of the product."""

from django.urls import path

from tideline_client.contrib.django.webhooks import webhook

urlpatterns = [path("tideline/webhook", webhook)]
