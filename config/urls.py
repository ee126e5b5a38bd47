"""All routes, the most requested first. Each app's `api/urls.py` has the routes of the app.

Routes of the API are listed, not included: each level of includes costs time on every request.
"""

from django.contrib import admin
from django.urls import include, path

from accounts.api.urls import urlpatterns as accounts
from infra.api import answers
from integrations.api.urls import urlpatterns as integrations
from moderation.api.urls import urlpatterns as moderation
from notifications.api.urls import urlpatterns as notifications
from pages.home_urls import urlpatterns as home
from posts.api.urls import urlpatterns as posts
from relations.api.urls import urlpatterns as relations
from timelines.api.urls import urlpatterns as timelines
from web import health, metrics, streams_elsewhere
from web.docs import DocsPage, OpenApiDocument
from web.icon import favicon

handler400 = answers.bad_request
handler403 = answers.permission_denied
handler404 = streams_elsewhere.page_not_found
handler500 = answers.server_error

urlpatterns = [
    *home,
    *timelines,
    *posts,
    *relations,
    *accounts,
    *notifications,
    *moderation,
    *integrations,
    path("", include("accounts.urls")),
    path("api/schema", OpenApiDocument.as_view(), name="schema"),
    path("api/docs", DocsPage.as_view(url_name="schema"), name="docs"),
    path("health", health.plain),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", metrics.export),
    path("favicon.ico", favicon),
    path("", include("operations.urls")),
    path("", include("moderation.urls")),
    path("admin/", admin.site.urls),
    path("", include("pages.urls")),
]
