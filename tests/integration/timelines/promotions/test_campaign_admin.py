"""Campaigns in the admin: validation, permissions and the list."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from posts.actions.create_post import create_post
from posts.actions.repost import repost
from posts.ids import PostId
from posts.types import Draft, Visibility
from tests.callers import sign_in
from tests.integration.timelines.promotions.campaigns import AD, run_campaign
from tests.world import drain_all, make_account, publish
from timelines.promotions.models import Campaign

LIST, ADD = "admin:promotions_campaign_changelist", "admin:promotions_campaign_add"
ENTERED = {
    "name": "Tea",
    "slot": "3",
    "every": "20",
    "daily_cap": "1",
    "total_cap": "",
    "audience_percent": "100",
    "starts_at": "2026-12-01T00:00",
    "ends_at": "2026-12-24T00:00",
}


@pytest.fixture
def boss(world: None) -> Client:
    return signed_in(User.objects.create(username="boss", is_staff=True, is_superuser=True))


def signed_in(user: User) -> Client:
    browser = Client()
    sign_in(browser, user)
    return browser


def errors_of(browser: Client, **fields: Any) -> dict[str, list[str]]:
    answer = browser.post(reverse(ADD), {**ENTERED, **AD, **fields})
    if answer.status_code == 302:
        return {}
    return dict(answer.context["adminform"].form.errors)


def act(browser: Client, action: str, pk: int, **form: Any) -> Any:
    return browser.post(reverse(LIST), {"action": action, "_selected_action": [pk], **form})


def test_campaign_is_entered_and_listed_with_its_numbers(boss):
    assert errors_of(boss, total_cap="12345") == {}
    Campaign.objects.update(served=678, given_out=690)
    page = boss.get(reverse(LIST)).content.decode()
    assert all(text in page for text in ("Tea", "12345", "678"))
    assert LogEntry.objects.count() == 1


def test_each_kind_with_its_target(boss):
    author = make_account()
    post = publish(author)
    empty = dict.fromkeys(("ad_title", "ad_text", "ad_url"), "")
    assert errors_of(boss, name="a", kind="post", post_id=post.public, **empty) == {}
    assert errors_of(boss, name="a36", kind="post", post_id=post.base36, **empty) == {}
    assert {one.post_id for one in Campaign.objects.all()} == {post.base36}
    for campaign, name in zip(Campaign.objects.all(), ("input", "readonly"), strict=True):
        Campaign.objects.filter(pk=campaign.pk).update(given_out=int(name == "readonly"))
        page = boss.get(reverse("admin:promotions_campaign_change", args=[campaign.pk]))
        assert post.public in page.content.decode(), name
        assert post.base36 not in page.content.decode(), name
    assert errors_of(boss, name="b", kind="account", account_id=author, **empty) == {}
    assert set(errors_of(boss, name="c", kind="post", **empty)) == {"post_id"}
    assert set(errors_of(boss, name="c", kind="account", **empty)) == {"account_id"}
    assert set(errors_of(boss, name="c", kind="ad", **empty)) == {"ad_title", "ad_text", "ad_url"}
    mixed = errors_of(boss, name="c", kind="post", post_id=post.public)
    assert mixed["ad_url"] == ["Leave this empty for a campaign of kind post."]


def test_what_is_refused(boss):
    for fields, error in [
        ({"ends_at": "2026-11-30T00:00"}, {"ends_at": ["The campaign ends before it starts."]}),
        ({"ends_at": "2026-12-01T00:00"}, {"ends_at": ["The campaign ends before it starts."]}),
        ({"slot": "0"}, {"slot": ["Ensure this value is greater than or equal to 1."]}),
        ({"slot": "40"}, {"slot": ["Ensure this value is less than or equal to 39."]}),
        ({"total_cap": "0"}, {"total_cap": ["Ensure this value is greater than or equal to 1."]}),
        (
            {"audience_percent": "101"},
            {"audience_percent": ["Ensure this value is less than or equal to 100."]},
        ),
        ({"ad_url": "javascript:x"}, {"ad_url": ["Give a link that begins with https://."]}),
        ({"ad_url": "http://a.example"}, {"ad_url": ["Give a link that begins with https://."]}),
        ({"name": ""}, {"name": ["This field is required."]}),
    ]:
        assert errors_of(boss, **fields) == error, (fields, error)
        assert not Campaign.objects.exists(), (fields, error)


def test_posts_and_accounts_that_are_not_there(boss):
    post = publish(make_account())
    shared = repost(make_account(), post)
    drain_all()
    for text in ("0000000000zz00", "x", "0000000000000É", shared.public):
        (error,) = errors_of(boss, kind="post", post_id=text)["post_id"]
        assert error == "No such post that everybody may read. Find it by its text."
    for number in ("99999", "99999999999999999999", "0", "x"):
        assert "account_id" in errors_of(boss, kind="account", account_id=number)


def test_an_operator_sees_what_people_see(boss):
    seller, post = make_account("seller"), publish(make_account(), "buy <b>tea</b>")
    ad, account, shown = (
        run_campaign(),
        run_campaign(account_id=seller),
        run_campaign(post_id=post.base36),
    )
    for campaign, text in ((ad, "Hot tea"), (account, "@seller"), (shown, "buy &lt;b&gt;tea")):
        page = boss.get(reverse("admin:promotions_campaign_change", args=[campaign]))
        assert "<strong>Promoted</strong>" in page.content.decode()
        assert text in page.content.decode()
    Campaign.objects.filter(pk=shown).update(post_id=PostId(1, 2, 3).base36)
    page = boss.get(reverse("admin:promotions_campaign_change", args=[shown]))
    assert "The target is gone" in page.content.decode()


def test_pausing_needs_a_reason_and_leaves_a_trace(boss):
    campaign = run_campaign()
    act(boss, "pause", campaign, reason=" ")
    assert not Campaign.objects.get().is_paused
    act(boss, "pause", campaign, reason="the tea is sold")
    assert Campaign.objects.get().is_paused
    act(boss, "resume", campaign, reason="more tea")
    assert not Campaign.objects.get().is_paused
    log = [entry.change_message for entry in LogEntry.objects.order_by("id")]
    assert log == ["Paused: the tea is sold", "Resumed: more tea"]


def test_target_of_what_was_shown_stays(boss):
    campaign = run_campaign()
    Campaign.objects.update(given_out=1)
    page = reverse("admin:promotions_campaign_change", args=[campaign])
    changed = {**ENTERED, **AD, "ad_title": "Coffee", "every": "30"}
    assert boss.post(page, changed).status_code == 302
    found = Campaign.objects.get()
    assert (found.ad_title, found.every, found.given_out) == ("Tea", 30, 1)


def test_who_may(boss):
    campaign = run_campaign()
    watcher = User.objects.create(username="watcher", is_staff=True)
    assert signed_in(watcher).get(reverse(LIST)).status_code == 403
    watcher.user_permissions.set(Permission.objects.filter(codename="view_campaign"))
    browser = signed_in(watcher)
    assert browser.get(reverse(LIST)).status_code == 200
    assert browser.get(reverse(ADD)).status_code == 403
    act(browser, "pause", campaign, reason="fun")
    assert not Campaign.objects.get().is_paused
    delete = reverse("admin:promotions_campaign_delete", args=[campaign])
    assert boss.post(delete, {"post": "yes"}).status_code == 403


def found(browser: Client, text: str) -> str:
    page = browser.get(reverse("admin:promotions_campaign_find_post"), {"q": text})
    assert page.status_code == 200
    return page.content.decode()


def test_a_post_is_found_by_its_text_author_address_and_id(boss):
    seller = make_account("seller")
    post = publish(seller, "the finest oolong")
    hidden = create_post(seller, Draft("secret oolong", visibility=Visibility.PRIVATE))
    drain_all()
    address = f"https://any.example/@seller/{post.public}"
    for text in ("oolong", "@seller", "from:seller finest", address, post.public, post.base36):
        page = found(boss, text)
        assert "the finest oolong" in page and "0 favourites" in page, text
        assert f"?kind=post&amp;post_id={post.public}" in page and hidden.public not in page, text
    for text in ("nothing like it", "@unknown", hidden.public, "from:", "x" * 600, "\0"):
        assert "Promote this post" not in found(boss, text), text
    page = boss.get(reverse(ADD), {"kind": "post", "post_id": post.public}).content.decode()
    assert f'value="{post.public}"' in page


@pytest.mark.parametrize(
    ("times", "state"),
    [((-2, -1), "ended"), ((-1, 1), "running"), ((1, 2), "not begun yet"), ((-1, 1), "paused")],
)
def test_the_list_says_whether_a_campaign_runs(boss, times, state):
    starts_at, ends_at = (timezone.now() + timedelta(days=days) for days in times)
    Campaign.objects.create(
        name="Tea",
        kind="ad",
        starts_at=starts_at,
        ends_at=ends_at,
        is_paused=state == "paused",
    )
    page = boss.get("/admin/promotions/campaign/").content.decode()
    assert re.search(f'class="field-state"><span class="chip [a-z]*">{state}</span>', page)


def test_preview_checks_and_shows_without_storing(boss):
    post = publish(make_account("seller"), "the finest oolong")
    drain_all()
    fields = {**ENTERED, "kind": "post", "post_id": post.public, "_preview": "Preview"}
    page = boss.post(reverse(ADD), fields)
    assert page.status_code == 200 and not Campaign.objects.exists()
    text = page.content.decode()
    assert "<strong>Promoted</strong>" in text and "the finest oolong" in text
    assert "errornote" not in text and f'value="{post.public}"' in text
    wrong = boss.post(reverse(ADD), {**fields, "slot": "40"}).content.decode()
    assert "less than or equal to 39" in wrong
    stored = run_campaign()
    page = reverse("admin:promotions_campaign_change", args=[stored])
    shown = boss.post(page, {**ENTERED, **AD, "ad_title": "Coffee", "_preview": "Preview"})
    assert "Coffee" in shown.content.decode() and Campaign.objects.get().ad_title == "Tea"


def test_an_account_is_entered_by_its_name(boss):
    seller = make_account("seller")
    empty = dict.fromkeys(("ad_title", "ad_text", "ad_url"), "")
    assert errors_of(boss, kind="account", account_id="@Seller", paid_by="Acme", **empty) == {}
    campaign = Campaign.objects.get()
    assert (campaign.account_id, campaign.paid_by) == (seller, "Acme")


def test_who_may_not_add_may_not_search(boss):
    watcher = User.objects.create(username="watcher", is_staff=True)
    watcher.user_permissions.set(Permission.objects.filter(codename="view_campaign"))
    page = signed_in(watcher).get(reverse("admin:promotions_campaign_find_post"))
    assert page.status_code == 403
