"""The operator's page of this package."""

from django.urls import path

from infra.api.operators import operator_page
from infra.caching.pages import show_hot_keys

urlpatterns = [
    path("admin/hot_keys/", operator_page(show_hot_keys), name="hot_keys"),
]
