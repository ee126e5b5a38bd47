"""Routes of tags. A text that is no tag matches no route: 404."""

from django.urls import path, register_converter

from accounts.texts.links import find_links
from timelines.tags.api import followed, views
from timelines.tags.api.profile import ProfileView
from timelines.tags.models import LONGEST_NAME


class TagConverter:
    """`<tag:name>` in a route: a tag as the client typed it, without `#`."""

    regex = r"[^/]+"

    def to_python(self, value: str) -> str:
        """Raises: ValueError for a text that would be no tag in a post."""
        tags = find_links(f"#{value}").tags
        if not tags or tags[0].text != value or len(value) > LONGEST_NAME:
            raise ValueError(f"{value[:LONGEST_NAME]!r} is not a tag")
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TagConverter, "tag")

urlpatterns = [
    path("api/v1/profile", ProfileView.as_view()),
    path("api/v1/timelines/tag/<tag:name>", views.TagTimelineView.as_view()),
    path("api/v1/tags/<tag:name>", views.TagView.as_view()),
    path("api/v1/tags/<tag:name>/follow", views.FollowTagView.as_view()),
    path("api/v1/tags/<tag:name>/unfollow", views.UnfollowTagView.as_view()),
    path("api/v1/tags/<tag:name>/feature", views.FeatureTagView.as_view()),
    path("api/v1/tags/<tag:name>/unfeature", views.UnfeatureTagView.as_view()),
    path("api/v1/followed_tags", views.FollowedTagsView.as_view()),
    path("api/v1/followed_tags/settings", followed.FollowedTagsSettingsView.as_view()),
    path("api/v1/timelines/followed_tags", followed.FollowedTagsTimelineView.as_view()),
    path("api/v1/featured_tags", views.FeaturedTagsView.as_view()),
    path("api/v1/featured_tags/suggestions", views.SuggestedTagsView.as_view()),
    path("api/v1/featured_tags/<int:tag_id>", views.FeaturedTagView.as_view()),
    path("api/v1/accounts/<account:account_id>/featured_tags", views.FeaturedByView.as_view()),
]
