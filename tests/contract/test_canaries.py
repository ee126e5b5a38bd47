"""Each secret is seen by each role that may see it, and by no other.

A test that only looks for leaks also passes if its reads find nothing. So every canary, a word that
is nowhere else, has the roles that must find it. All reads of the API are tried, and for people who
work here the pages of the admin.
"""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from accounts.models import User
from moderation.groups import create_groups
from moderation.models import Report
from moderation.types import DecisionKind
from relations.actions.block import block
from relations.actions.follow import follow
from tests.callers import Caller, sign_in
from tests.people import decide
from tests.reads import World, all_reads, answers
from tests.world import drain_all, make_account

API_ROLES = (
    "anonymous", "owner", "other", "follower", "mentioned", "blocked", "blocker", "suspended",
)  # fmt: skip
STAFF = ("moderator", "operator", "admin")
ALL_BUT_BLOCKED = {"anonymous", "owner", "other", "follower", "mentioned"}
# The roles that see each canary, over the API and in the admin.
SEEN_BY = {
    "profilecanary": {*ALL_BUT_BLOCKED, "blocked", "blocker", *STAFF},
    "publiccanary": {*ALL_BUT_BLOCKED, *STAFF},
    "unlistedcanary": {*ALL_BUT_BLOCKED, *STAFF},
    # Moderators see these only where somebody reports them.
    "privatecanary": {"owner", "follower", "mentioned", "operator", "admin"},
    "directcanary": {"owner", "mentioned", "operator", "admin"},
    "listcanary": {"owner"},
    "scheduledcanary": {"owner"},
    "notecanary": {"owner"},
    "filtercanary": {"owner"},
    "fieldcanary": {*ALL_BUT_BLOCKED, "blocked", "blocker", *STAFF},
    "reportcanary": {"moderator", "admin"},
    "emailcanary": {"operator", "admin"},
}


class Place:
    """The owner has the canaries. The others are named by their roles."""

    def __init__(self) -> None:
        names = [role for role in (*API_ROLES, *STAFF) if role != "anonymous"]
        self.people = {name: make_account(name) for name in names}
        self.owner = self.people["owner"]
        self.me = Caller(self.owner)
        self._relate()
        self.posts = [self._publish(one) for one in ("public", "unlisted", "private", "direct")]
        self.list_id = self._send("lists", {"title": "listcanary"})["id"]
        later = {"status": "scheduledcanary", "scheduled_at": "2036-01-01"}
        self.scheduled_id = self._send("statuses", later)["id"]
        self._send("../v2/filters", {"title": "filtercanary", "context": ["home"]})
        self._send(f"accounts/{self.people['other']}/note", {"comment": "notecanary"})
        profile = {
            "note": "profilecanary",
            "fields_attributes": [{"name": "fieldcanary", "value": "x"}],
        }
        path = "/api/v1/accounts/update_credentials"
        assert self.me.client.patch(path, profile, "application/json").status_code == 200
        report = {"account_id": str(self.owner), "comment": "reportcanary"}
        Caller(self.people["other"], "write").post("/api/v1/reports", report)
        User.objects.filter(pk=self.owner).update(email="emailcanary@example.org")
        decide(self.people["suspended"], DecisionKind.SUSPEND)
        drain_all()

    def _relate(self) -> None:
        people = self.people
        for name in ("follower", "mentioned"):
            follow(people[name], self.owner)
        drain_all()
        block(self.owner, people["blocked"])
        block(people["blocker"], self.owner)

    def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.me.post(f"/api/v1/{path}".replace("/v1/../", "/"), body)
        assert answer.status_code == 200, (path, answer.content)
        return dict(answer.json())

    def _publish(self, visibility: str) -> str:
        name = "@mentioned " if visibility == "direct" else ""
        text = f"{name}{visibility}canary"
        return str(self._send("statuses", {"status": text, "visibility": visibility})["id"])

    def seen_by(self, role: str) -> bytes:
        """All that the API answers this role."""
        client = Client() if role == "anonymous" else Caller(self.people[role]).client
        world = World({self.owner: "owner"}, self.posts, [self.list_id], [self.scheduled_id])
        pages = answers(client, all_reads(world)).values()
        relation = client.get(f"/api/v1/accounts/relationships?id[]={self.people['other']}")
        bodies = [body for found in pages for _, body, _ in found]
        return b"".join([*bodies, relation.content])

    def seen_at_work(self, role: str) -> bytes:
        """The pages of the admin about the owner."""
        user = User.objects.get(pk=self.people[role])
        user.is_staff, user.is_superuser = True, role == "admin"
        user.save()
        if role != "admin":
            user.groups.add(Group.objects.get(name=role))
        browser = Client()
        sign_in(browser, user)
        pages = [
            reverse("admin:accounts_user_change", args=[self.owner]),
            reverse("admin:moderation_report_change", args=[Report.objects.get().pk]),
            *(reverse("find_post", args=[post]) for post in self.posts),
        ]
        return b"".join(browser.get(page).content for page in pages)


@pytest.mark.slow
def test_each_canary_is_seen_by_each_role_that_may_see_it(world: None, settings: Settings) -> None:
    settings.QUOTA_PER_ACCOUNT = 1_000_000
    create_groups()
    place = Place()
    seen = {role: place.seen_by(role) for role in API_ROLES}
    seen |= {role: place.seen_at_work(role) for role in STAFF}
    found = {
        canary: {role for role, text in seen.items() if canary.encode() in text}
        for canary in SEEN_BY
    }
    assert found == SEEN_BY
