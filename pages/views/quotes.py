"""The posts that quote a post; who may quote it; and taking an own post out of a quote."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.composer import QUOTERS, policy_of
from pages.site import Entity
from pages.texts import later as _
from pages.views.base import Context, WebPage
from pages.views.timelines import TimelinePage
from posts.ids import PostId

STATUSES = "/api/v1/statuses"


class QuotesPage(TimelinePage):
    """The posts that quote a post, the latest first. Its author changes here who may quote it."""

    needs_viewer = True
    path = f"{STATUSES}/{{status_id.public}}/quotes"
    title = _("Quotes")
    empty = _("There are no quotes yet.")
    template = "quotes.html"

    def more(self, **names: Any) -> Context:
        """Raises: Http404 for a repost, which no account can quote."""
        status = self.api.get(f"{STATUSES}/{names['status_id'].public}").body
        if status["reblog"]:
            raise Http404
        is_own = status["account"]["id"] == self.signed_in["id"]
        is_open = is_own and status["visibility"] in ("public", "unlisted")
        policy = policy_of(status, "quote_approval") if is_open else None
        return {"status": status, "policy": policy, "quoters": QUOTERS}

    def post(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        sent = {"quote_approval_policy": request.POST.get("quote_approval_policy", "")}
        self.api.send("PUT", f"{STATUSES}/{status_id.public}/interaction_policy", sent)
        return HttpResponseRedirect(f"/statuses/{status_id.public}/quotes", status=303)


class RevokeQuote(WebPage):
    """Asks, then takes the viewer's post out of a post that quotes it."""

    needs_viewer = True

    def get(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        status = self.api.get(f"{STATUSES}/{status_id.public}").body
        self._quoted_of(status)
        return self.draw("revoke_quote.html", {"status": status})

    def post(self, request: HttpRequest, status_id: PostId) -> HttpResponseBase:
        """A quote that ended already is what the person wanted."""
        status = self.api.get(f"{STATUSES}/{status_id.public}").body
        if (status["quote"] or {}).get("state") != "revoked":
            path = f"{STATUSES}/{self._quoted_of(status)}/quotes/{status_id.public}/revoke"
            self.api.send("POST", path)
        return HttpResponseRedirect(f"/statuses/{status_id.public}", status=303)

    def _quoted_of(self, status: Entity) -> str:
        """The id of the viewer's post. Raises: Http404 if the post quotes none of the viewer."""
        quoted = (status["quote"] or {}).get("quoted_status")
        if not quoted or quoted["account"]["id"] != self.signed_in["id"]:
            raise Http404
        return str(quoted["id"])
