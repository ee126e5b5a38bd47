"""All routes. Each app's `api/urls.py` has its own; order is by how often they are asked."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from config import health, metrics
from infra.api import fallbacks

handler400 = fallbacks.bad_request
handler403 = fallbacks.permission_denied
handler404 = fallbacks.page_not_found
handler500 = fallbacks.server_error

urlpatterns = [
    path("", include("timelines.api.urls")),
    path("", include("posts.api.urls")),
    path("", include("relations.api.urls")),
    path("", include("accounts.api.urls")),
    path("", include("moderation.api.urls")),
    path("", include("accounts.urls")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics.export),
    path("", include("infra.caching.urls")),
    path("admin/", admin.site.urls),
    path("", RedirectView.as_view(pattern_name="docs")),
]
