"""Why the viewer sees a promotion, and how to hide it."""

from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.api_client import ApiRefused
from pages.views.base import Context, WebPage


class WhyPromotedPage(WebPage):
    """Who placed it and paid for it, which people see it, how often, until when."""

    needs_viewer = True

    def get(self, request: HttpRequest, campaign_id: int) -> HttpResponseBase:
        why = self.api.get(f"/api/v1/promotions/{campaign_id}").body
        return self.draw("why_promoted.html", {"why": why, "account": self._account_of(why)})

    def post(self, request: HttpRequest, campaign_id: int) -> HttpResponseBase:
        """Hides it for good."""
        self.api.send("POST", f"/api/v1/promotions/{campaign_id}/hide")
        return HttpResponseRedirect("/", status=303)

    def _account_of(self, why: Context) -> Context | None:
        """The account whose mute hides the promotion; None for an ad, or if it is gone."""
        if why["account_id"] is None:
            return None
        try:
            account: Context = self.api.get(f"/api/v1/accounts/{why['account_id']}").body
        except ApiRefused:
            return None
        return account
