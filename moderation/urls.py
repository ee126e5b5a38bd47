"""The pages of moderators in the admin that are no lists of models."""

from django.contrib import admin
from django.urls import path

from moderation.admin.next_report import show_neighbour
from moderation.admin.undoing import undo
from moderation.image_pages import show_images
from moderation.joint_pages import DecideOnSeveral, JointDecisionPage

ADMIN = "admin/moderation"
urlpatterns = [
    path(f"{ADMIN}/images/", admin.site.admin_view(show_images), name="images_of_account"),
    path(
        f"{ADMIN}/report/<int:report_id>/next/",
        admin.site.admin_view(show_neighbour),
        {"side": "next"},
        name="next_report",
    ),
    path(
        f"{ADMIN}/report/<int:report_id>/previous/",
        admin.site.admin_view(show_neighbour),
        {"side": "previous"},
        name="previous_report",
    ),
    path(
        f"{ADMIN}/decision/<int:decision_id>/undo/",
        admin.site.admin_view(undo),
        name="undo_decision",
    ),
    path(f"{ADMIN}/several/", DecideOnSeveral.as_view(), name="decide_on_several"),
    path(f"{ADMIN}/several/<int:joint_id>/", JointDecisionPage.as_view(), name="joint_decision"),
]
