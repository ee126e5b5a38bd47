"""A report of an account, and of some of its posts, to the moderators."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.site_texts.queries import get_site_description
from pages.views.accounts import AboutAccount


class ReportPage(AboutAccount):
    """Asks why, and which of the newest posts. `?status=`: a post that is chosen already."""

    needs_viewer = True

    def get(self, request: HttpRequest, username: str) -> HttpResponseBase:
        account, chosen = self.find_account(username), request.GET.getlist("status")
        path = f"/api/v1/accounts/{account['id']}/statuses"
        statuses = self.api.get(path, {"exclude_reblogs": "true"}).body
        missing = set(chosen) - {status["id"] for status in statuses}
        first = [
            self.api.get(f"/api/v1/statuses/{post_id}").body for post_id in sorted(missing)[:1]
        ]
        context = {
            "account": account,
            "statuses": [*first, *statuses],
            "chosen": chosen,
            "rules": get_site_description().rules,
        }
        return self.draw("people/report.html", context)

    def post(self, request: HttpRequest, username: str) -> HttpResponseBase:
        account = self.find_account(username)
        sent = {
            "account_id": account["id"],
            "category": request.POST.get("category", ""),
            "comment": request.POST.get("comment", ""),
            "status_ids": request.POST.getlist("status_ids"),
            "rule_ids": request.POST.getlist("rule_ids"),
        }
        self.api.send("POST", "/api/v1/reports", sent)
        context = {"account": account, "relationship": self.find_relationship(account)}
        return self.draw("people/reported.html", context)
