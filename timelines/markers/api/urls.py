"""Routes of markers."""

from django.urls import path

from timelines.markers.api.views import MarkersView

urlpatterns = [path("api/v1/markers", MarkersView.as_view())]
