"""Routes of images."""

from django.urls import path

from accounts.images.api.views import MediaView, MediumView, serve_file

urlpatterns = [
    path("api/v2/media", MediaView.as_view()),
    path("api/v1/media", MediaView.as_view()),
    path("api/v1/media/<str:media_id>", MediumView.as_view()),
    path("media/<path:name>", serve_file),
]
