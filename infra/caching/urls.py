"""The operator's page of this package."""

from django.contrib import admin
from django.urls import path

from infra.caching.pages import show_hot_keys

urlpatterns = [
    path("admin/hot_keys/", admin.site.admin_view(show_hot_keys), name="hot_keys"),
]
