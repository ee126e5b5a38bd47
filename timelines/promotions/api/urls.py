"""Routes of promotions. The promotions themselves are items of the home timeline."""

from django.urls import path

from timelines.promotions.api.views import HidePromotionView, WhyPromotedView

urlpatterns = [
    path("api/v1/promotions/<int:campaign_id>", WhyPromotedView.as_view()),
    path("api/v1/promotions/<int:campaign_id>/hide", HidePromotionView.as_view()),
]
