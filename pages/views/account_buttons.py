"""What people do with an account: follow, mute, block, and more. AccountFormPage asks first."""

import json
from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from pages.texts import Choices
from pages.texts import later as _
from pages.views.base import WebPage

ACCOUNT = "/api/v1/accounts/{id}/{act}"
REQUEST = "/api/v1/follow_requests/{id}/{act}"
FOLLOW_OPTIONS = ("quiet", "special", "reblogs", "notify")


class Act(NamedTuple):
    """A write of the API that answers a relationship. `fields`: what its form may send."""

    path: str = ACCOUNT
    fields: tuple[str, ...] = ()


ACTS = {
    "follow": Act(fields=FOLLOW_OPTIONS),
    "unfollow": Act(),
    "remove_from_followers": Act(),
    "endorse": Act(),
    "unendorse": Act(),
    "mute": Act(fields=("duration", "notifications")),
    "unmute": Act(),
    "undo": Act(fields=("undo",)),
    "block": Act(),
    "unblock": Act(),
    "note": Act(fields=("comment",)),
    "authorize": Act(REQUEST),
    "reject": Act(REQUEST),
}
# Without a script a press leads to a question first (AccountFormPage).
ASKED = {"unfollow", "mute"}
# What can be taken back for some seconds, and what the page says then.
DONE = Choices({"unfollow": _("You no longer follow @%s."), "mute": _("You muted @%s.")})
# The part of a page that a script replaces with the answer.
PARTS = {
    "profile": "parts/profile.html",
    "person": "parts/person.html",
    "aside": "parts/person.html",
    "follower": "parts/person.html",
    "answer": "parts/answered.html",
}


class AccountAct(WebPage):
    """Does one act with an account. All are idempotent."""

    needs_viewer = True

    def post(self, request: HttpRequest, account_id: int, act: str) -> HttpResponseBase:
        if act not in ACTS:
            raise Http404
        if act in ASKED and not self.is_partial and "asked" not in request.POST:
            account = self.api.get(f"/api/v1/accounts/{account_id}").body
            return HttpResponseRedirect(f"/@{account['acct']}/{act}", status=303)
        path = ACTS[act].path.format(id=account_id, act=act)
        sent = {name: request.POST[name] for name in ACTS[act].fields if name in request.POST}
        written = self.api.send("POST", path, sent)
        relationship = written.body
        part = request.POST.get("part")
        if not self.is_partial or part not in PARTS:
            return self.go_back("/")
        account = self.api.get(f"/api/v1/accounts/{account_id}").body
        # A person may change several options in the menu, so it stays open.
        context = {
            "account": account, "relationship": relationship, "part": part,
            "is_menu_open": any(name in FOLLOW_OPTIONS for name in sent),
        }  # fmt: skip
        answer = self.draw(PARTS[part], context)
        if written.undo:
            text = str(DONE[act]) % account["acct"]
            offer = {"text": text, "undo": written.undo, "id": str(account_id), "part": part}
            answer["HX-Trigger"] = json.dumps({"undoable": offer})
        return answer
