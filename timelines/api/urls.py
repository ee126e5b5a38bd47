"""Routes of timelines. A text that is no tag matches no route: 404."""

from django.urls import path, register_converter

from accounts.texts.links import find_links
from timelines.api.news import HomeNewsView
from timelines.api.public import ListTimelineView, PublicView
from timelines.api.views import AuthorView, HomeView
from timelines.catch_up.api.views import CatchUpView
from timelines.markers.api.views import MarkersView
from timelines.promotions.api.views import HidePromotionView, WhyPromotedView
from timelines.search.api.views import AccountSearchView, DirectoryView, SearchView
from timelines.tags.api import followed, views
from timelines.tags.api.profile import ProfileView
from timelines.tags.models import LONGEST_NAME
from timelines.trends.api.views import TrendingLinksView, TrendingStatusesView, TrendingTagsView


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
    path("api/v1/timelines/home", HomeView.as_view()),
    path("api/v1/timelines/home/news", HomeNewsView.as_view()),
    path("api/v1/timelines/home/catch_up", CatchUpView.as_view()),
    path("api/v1/timelines/public", PublicView.as_view()),
    path("api/v1/timelines/list/<str:list_id>", ListTimelineView.as_view()),
    path("api/v1/accounts/<account:account_id>/statuses", AuthorView.as_view()),
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
    path("api/v1/markers", MarkersView.as_view()),
    path("api/v1/trends", TrendingTagsView.as_view()),  # the name before Mastodon 3.5
    path("api/v1/trends/tags", TrendingTagsView.as_view()),
    path("api/v1/trends/statuses", TrendingStatusesView.as_view()),
    path("api/v1/trends/links", TrendingLinksView.as_view()),
    path("api/v1/promotions/<int:campaign_id>", WhyPromotedView.as_view()),
    path("api/v1/promotions/<int:campaign_id>/hide", HidePromotionView.as_view()),
    path("api/v1/directory", DirectoryView.as_view()),
    path("api/v1/accounts/search", AccountSearchView.as_view()),
    path("api/v2/search", SearchView.as_view()),
]
