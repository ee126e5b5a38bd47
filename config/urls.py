"""All routes. Each app's `api/urls.py` has its own; order is by how often they are asked."""

from django.contrib import admin
from django.urls import include, path

from config import health, metrics

urlpatterns = [
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics.export),
    path("admin/", admin.site.urls),
]
