"""The page about images in the admin."""

from django.contrib import admin
from django.urls import path

from moderation.image_pages import show_images

urlpatterns = [
    path("admin/moderation/images/", admin.site.admin_view(show_images), name="images_of_account")
]
