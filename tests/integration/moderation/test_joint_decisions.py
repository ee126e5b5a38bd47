"""Decisions on several accounts, posts and reports at once."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import User
from accounts.types import Restriction
from infra.changes.failpoints import arm, disarm
from moderation.actions.by_owner import delete_own_account
from moderation.actions.joint_decisions import carry_out
from moderation.errors import OwnerDeletedIt, SentBefore
from moderation.models import Decision, JointDecision, JointTarget, Report, TimedRestriction
from moderation.types import DecisionKind
from posts.ids import PostId
from tests.budgets import count_calls
from tests.callers import Caller
from tests.integration.moderation.staff_pages import member, words_at
from tests.people import decide, make_boss
from tests.races import run_together
from tests.world import NOW, drain_all, make_accounts, publish

SEVERAL, REPORTS = "/admin/moderation/several/", "/admin/moderation/report/"
STEP = "moderation.before_target_saved"
KEY = re.compile(r'name="key" value="([-0-9a-f]+)"')


class Killed(Exception):
    """Simulates the end of the process."""


class Ring:
    """Two accounts that sell boats. Ann reported each with a post."""

    def __init__(self) -> None:
        self.ann, *self.members = make_accounts(3)
        self.posts = [publish(seller, "Buy a boat") for seller in self.members]
        self.reports = [
            Report.objects.create(
                reporter_id=self.ann,
                account_id=seller,
                category="spam",
                post_ids=[post.base36],
            )
            for seller, post in zip(self.members, self.posts, strict=True)
        ]
        drain_all()

    @property
    def address(self) -> str:
        return f"{SEVERAL}?" + "&".join(f"report={report.pk}" for report in self.reports)


@pytest.fixture
def ring(world: None) -> Iterator[Ring]:
    yield Ring()
    disarm(STEP)


WHOLE = {
    "account_kind": "limit",
    "lasts": "7",
    "post_kind": "hide",
    "resolves": "on",
    "reason": "A ring of sellers",
}


def key_at(browser: Client, address: str) -> str:
    (key,) = KEY.findall(browser.get(address).content.decode())
    return str(key)


def send(browser: Client, address: str, step: str = "do", **form: str) -> Any:
    sent = {"key": key_at(browser, address), **form}
    return browser.post(address, {"step": step, **sent})


def states() -> list[tuple[str, str]]:
    return [(str(row), row.state) for row in JointTarget.objects.order_by("pk")]


def restrictions_of(account_id: int) -> Restriction:
    return Restriction(User.objects.get(pk=account_id).restrictions)


def kinds() -> list[str]:
    return [row.kind for row in Decision.objects.order_by("pk")]


def test_a_ring_is_decided_on_at_once(ring: Ring, mia: Client) -> None:
    chosen = {"action": "decide_on_several", "_selected_action": [r.pk for r in ring.reports]}
    led = mia.post(REPORTS, {**chosen, "reason": "A ring"})["Location"]
    assert parse_qs(urlsplit(led).query)["report"] == [str(r.pk) for r in ring.reports]
    shown = words_at(mia, led)
    assert "Buy a boat" in shown and "none" in shown
    preview = send(mia, led, "preview", **WHOLE).content.decode()
    for words in ("limited until", "hidden", "resolved", "A ring of sellers", "Do it"):
        assert words in preview, words
    assert not Decision.objects.exists(), "it is only shown"
    done = send(mia, led, **WHOLE)
    assert done.status_code == 302
    page = words_at(mia, done["Location"])
    assert "All done." in page
    assert kinds() == ["hide", "hide", "limit", "limit", "resolve", "resolve"]
    assert {row.reason for row in Decision.objects.all()} == {WHOLE["reason"]}
    assert {row.report_id for row in Decision.objects.all()} == {r.pk for r in ring.reports}
    assert TimedRestriction.objects.count() == 2
    assert {row.state for row in Report.objects.all()} == {"resolved"}
    drain_all()
    for seller in ring.members:
        actions = [one["action"] for one in Caller(seller).get("/api/v1/strikes").json()]
        assert actions == ["silence", "hide_statuses"], "each person gets the notices"
    assert "all done" in words_at(mia, "/admin/moderation/jointdecision/")


def test_a_form_that_is_sent_twice_counts_once(ring: Ring, mia: Client) -> None:
    key = key_at(mia, ring.address)
    for _ in range(2):
        assert mia.post(ring.address, {"step": "do", "key": key, **WHOLE}).status_code == 302
    assert JointDecision.objects.count() == 1
    assert len(kinds()) == 6


@pytest.mark.parametrize(
    "other", [{"account_kind": "warn", "lasts": ""}, {"lasts": "30"}, {"reason": "Boats"}]
)
def test_a_form_that_is_sent_with_other_choices_is_refused(
    ring: Ring, mia: Client, other: dict[str, str]
) -> None:
    sent = {"step": "do", "key": key_at(mia, ring.address), **WHOLE}
    mia.post(ring.address, sent)
    answer = mia.post(ring.address, {**sent, **other})
    assert SentBefore.text in unescape(answer.content.decode())
    assert JointDecision.objects.count() == 1 and len(kinds()) == 6
    (key,) = KEY.findall(answer.content.decode())
    assert mia.post(ring.address, {**sent, **other, "key": key}).status_code == 302
    assert JointDecision.objects.count() == 2, "with its new key it counts"


def test_a_form_that_is_sent_with_other_targets_or_by_another_person_is_refused(
    ring: Ring, mia: Client
) -> None:
    sent = {"step": "do", "key": key_at(mia, ring.address), **WHOLE}
    mia.post(ring.address, sent)
    for browser, address in (
        (mia, f"{SEVERAL}?report={ring.reports[0].pk}"),
        (mia, f"{ring.address}&account={ring.ann}"),
        (member("moderator", "moe"), ring.address),
    ):
        answer = browser.post(address, sent)
        assert SentBefore.text in unescape(answer.content.decode()), address
    assert restrictions_of(ring.ann) == Restriction.NONE
    assert JointDecision.objects.count() == 1


def test_what_its_owner_deleted_comes_back_only_on_its_own_page(ring: Ring, mia: Client) -> None:
    deleted, suspended = ring.members
    delete_own_account(deleted, NOW)
    decide(suspended, DecisionKind.SUSPEND)
    address = f"{SEVERAL}?account={deleted}&account={suspended}"
    restore = {"account_kind": "restore", "reason": "A mistake"}
    preview = send(mia, address, "preview", **restore).content.decode()
    assert preview.count(OwnerDeletedIt.text) == 1
    page = words_at(mia, send(mia, address, **restore)["Location"])
    assert OwnerDeletedIt.text in page and "All done." in page
    assert restrictions_of(deleted) == Restriction.SUSPENDED
    assert restrictions_of(suspended) == Restriction.NONE
    decide(deleted, DecisionKind.RESTORE)
    decide(deleted, DecisionKind.LIMIT)
    send(mia, address, **restore)
    assert restrictions_of(deleted) == Restriction.NONE, "it was back already"


def test_killed_in_the_middle_the_others_wait_and_it_goes_on(ring: Ring, mia: Client) -> None:
    calls = []

    def kill() -> None:
        calls.append(1)
        if len(calls) == 3:
            disarm(STEP)
            raise Killed

    arm(STEP, kill)
    with pytest.raises(Killed):
        send(mia, ring.address, **WHOLE)
    assert kinds() == ["hide", "hide"]
    joint = JointDecision.objects.get()
    page = f"{SEVERAL}{joint.pk}/"
    assert "2 of 6 done, 4 left." in words_at(mia, page)
    assert mia.post(page).status_code == 302
    assert "All done." in words_at(mia, page)
    assert kinds() == ["hide", "hide", "limit", "limit", "resolve", "resolve"]


def test_two_people_go_on_and_each_target_is_decided_on_once(ring: Ring, mia: Client) -> None:
    arm(STEP, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        send(mia, ring.address, **WHOLE)
    disarm(STEP)
    joint, actor = JointDecision.objects.get(), User.objects.get(username="mia").pk
    assert run_together([lambda: carry_out(joint, actor)] * 2) == [None, None]
    # One of them may have seen a report while the other decided on its account.
    carry_out(joint, actor)
    assert sorted(kinds()) == ["hide", "hide", "limit", "limit", "resolve", "resolve"]


def test_who_may_not_resolve_reports_does_not_go_on_with_them(ring: Ring, mia: Client) -> None:
    arm(STEP, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        send(mia, ring.address, **WHOLE)
    disarm(STEP)
    permissions = Group.objects.get(name="moderator").permissions
    permissions.remove(*permissions.filter(codename="change_report"))
    assert mia.post(ring.address, {"step": "do", "key": str(uuid4()), **WHOLE}).status_code == 403
    assert mia.post(f"{SEVERAL}{JointDecision.objects.get().pk}/").status_code == 403
    assert not Decision.objects.exists()


def test_what_takes_too_long_waits(ring: Ring, mia: Client) -> None:
    send(mia, ring.address, **WHOLE)
    joint = JointDecision.objects.get()
    JointTarget.objects.update(state="waiting")
    carry_out(joint, 1, longest_s=-1)
    assert {state for _, state in states()} == {"waiting"}


def test_each_target_says_why_it_is_not_done(ring: Ring, mia: Client) -> None:
    boss, gone = make_boss().pk, PostId(7, ring.members[0], 1)
    address = (
        f"{SEVERAL}?account={boss}&account={ring.ann}&account=999999&post={gone.public}"
        f"&post={ring.posts[0].public}"
    )
    preview = send(mia, address, "preview", account_kind="freeze", post_kind="hide", reason="x")
    assert "belongs to staff" in preview.content.decode()
    done = send(mia, address, account_kind="freeze", post_kind="hide", reason="x")
    assert states() == [
        (f"Post {gone.public}", "unchanged"),
        (f"Post {ring.posts[0].public}", "done"),
        (f"Account {boss}", "failed"),
        (f"Account {ring.ann}", "done"),
        ("Account 999999", "unchanged"),
    ]
    page = words_at(mia, done["Location"])
    assert "belongs to staff" in page and "1 left" in page
    assert restrictions_of(boss) == Restriction.NONE


def test_a_report_stays_open_while_something_about_it_is_not_done(ring: Ring, mia: Client) -> None:
    User.objects.filter(pk=ring.members[0]).update(is_staff=True)
    send(mia, ring.address, account_kind="suspend", resolves="on", reason="x")
    assert [row.state for row in Report.objects.order_by("pk")] == ["open", "resolved"]
    assert "Left open" in JointTarget.objects.get(report=ring.reports[0], is_report=True).note


def test_odd_choices_are_refused(ring: Ring, mia: Client) -> None:
    for form, fault in (
        ({"reason": "x"}, "Choose what to do."),
        ({"account_kind": "limit"}, "Give a reason."),
        ({"account_kind": "limit", "reason": "x", "until": "2020-01-01T00:00"}, "in the future"),
        ({"account_kind": "warn", "reason": "x", "lasts": "7"}, "Only limit, freeze and suspend"),
        ({"resolves": "on", "reason": "x", "lasts": "7"}, "Only limit, freeze and suspend"),
        ({"account_kind": "purge", "reason": "x"}, "Select a valid choice"),
    ):
        answer = send(mia, ring.address, **form)
        assert answer.status_code == 200, form
        assert fault in answer.content.decode(), form
    answer = mia.post(ring.address, {"step": "do", "key": "odd", **WHOLE})
    assert answer.status_code == 200
    for query in ("", "?report=x&account=-1&post=nonsense&for_report=x", "?report=999999"):
        assert mia.get(f"{SEVERAL}{query}").status_code == 422
    many = "&".join(f"account={n}" for n in range(1, 102))
    assert "at most 100" in mia.get(f"{SEVERAL}?{many}").content.decode()
    assert mia.get(f"{SEVERAL}999999/").status_code == 404
    assert not JointDecision.objects.exists()


def test_only_moderators_decide(ring: Ring) -> None:
    otto = member("operator", "otto")
    assert otto.get(ring.address).status_code == 403
    assert otto.post(ring.address, WHOLE).status_code == 403
    assert Client().get(ring.address).status_code == 302
    assert "Decide on them at once" not in otto.get("/admin/accounts/user/").content.decode()


def test_users_and_posts_are_chosen_on_their_pages(ring: Ring, mia: Client) -> None:
    chosen = {"action": "decide_on_several", "_selected_action": ring.members}
    led = mia.post("/admin/accounts/user/", chosen)["Location"]
    assert parse_qs(urlsplit(led).query)["account"] == [str(one) for one in ring.members]
    page = mia.get(f"{REPORTS}{ring.reports[0].pk}/change/").content.decode()
    assert f'name="post" value="{ring.posts[0].public}"' not in page, "there is only one"
    extra = publish(ring.members[0], "Buy two boats")
    Report.objects.filter(pk=ring.reports[0].pk).update(
        post_ids=[ring.posts[0].base36, extra.base36]
    )
    page = mia.get(f"{REPORTS}{ring.reports[0].pk}/change/").content.decode()
    assert f'name="post" value="{ring.posts[0].public}"' in page
    assert f'name="for_report" value="{ring.reports[0].pk}"' in page
    address = f"{SEVERAL}?for_report={ring.reports[0].pk}&post={ring.posts[0].public}"
    send(mia, address, post_kind="delete", reason="x")
    assert Decision.objects.get().report_id == ring.reports[0].pk


def test_the_page_costs_the_same_for_more_targets(ring: Ring, mia: Client) -> None:
    mia.get(ring.address)
    with count_calls() as few:
        mia.get(ring.address)
    more = "&".join(f"account={account_id}" for account_id in make_accounts(20))
    with count_calls() as many:
        mia.get(f"{ring.address}&{more}")
    assert many.sql["default"] == few.sql["default"]
