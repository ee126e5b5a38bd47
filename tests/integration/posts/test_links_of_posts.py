"""Mentions, tags and addresses of posts: how they are shown, stored, limited and deleted."""

import pytest

from accounts.models import User
from infra.changes.models import Change
from infra.sharding.buckets import shard_of
from posts.actions.create_post import create_post
from posts.actions.delete_post import delete_post
from posts.models import Post
from posts.types import Draft
from tests.budgets import count_calls
from tests.callers import Caller
from tests.races import failures, run_together
from tests.truth import assert_drained_truth
from tests.world import forget_memory

STATUSES = "/api/v1/statuses"
TEXT = "hello @Bob @bob@tide.example and @stranger@far.example #Tea #tea https://a.example/x"


@pytest.fixture(autouse=True)
def address(bob, settings):
    """Bob can be mentioned."""
    settings.PUBLIC_URL = "https://tide.example"


def post(caller: Caller, text: str, **more: object):
    return caller.post(STATUSES, {"status": text} | more)


def payloads(account_id: int) -> list[dict[str, object]]:
    found = Change.objects.on(shard_of(account_id)).filter(owner_id=account_id).order_by("pk")
    return [change.payload for change in found]


def test_links_are_in_the_entity_and_in_its_html(as_ann, bob, drain):
    made = post(as_ann, TEXT).json()
    url = "https://tide.example/@bob"
    assert made["mentions"] == [{"id": str(bob), "username": "bob", "acct": "bob", "url": url}]
    assert made["tags"] == [{"name": "tea", "url": "https://tide.example/tags/tea"}]
    for part in (f'<a href="{url}"', "#<span>Tea</span>", '<a href="https://a.example/x"'):
        assert part in made["content"]
    assert "@stranger@far.example" in made["content"]
    drain()
    forget_memory()
    assert as_ann.get(f"{STATUSES}/{made['id']}").json() == made
    assert_drained_truth()


def test_changes_name_the_links_and_the_tombstone_has_none(ann, bob):
    post_id = create_post(ann, Draft(TEXT))
    assert payloads(ann)[0]["tags"] == ["tea"]
    assert payloads(ann)[0]["mentioned"] == [bob]
    delete_post(post_id)
    deleted = payloads(ann)[1]
    assert (deleted["tags"], deleted["mentioned"]) == (["tea"], [bob])
    row = Post.objects.of(ann).get(moment=post_id.moment)
    assert (row.text, row.mentions, row.tags, row.media) == ("", None, None, None)


def test_text_without_names_asks_no_database_but_the_authors(ann):
    with count_calls() as calls:
        create_post(ann, Draft("hello https://a.example"))
    assert len(calls.statements) == 1
    with count_calls() as calls:
        create_post(ann, Draft("hello @bob"))
    assert len(calls.statements) == 2


def test_name_of_a_deleted_user_stays_a_mention_of_old_posts(ann, as_ann, bob):
    post_id = create_post(ann, Draft("hello @bob"))
    User.objects.filter(pk=bob).delete()
    assert post(as_ann, "hello @bob").json()["mentions"] == []
    assert as_ann.get(f"{STATUSES}/{post_id.public}").json()["mentions"][0]["username"] == "bob"


@pytest.mark.parametrize(
    ("setting", "text"), [("MENTIONS_PER_DAY", "@bob @ann"), ("TAGS_PER_DAY", "#a #b")]
)
def test_links_of_a_day_are_limited(ann, as_ann, settings, setting, text):
    setattr(settings, setting, 3)
    assert post(as_ann, text).status_code == 200
    refused = post(as_ann, text)
    assert refused.status_code == 429
    assert "today" in refused.json()["error"]
    assert 0 < int(refused["Retry-After"]) <= 86_400
    assert Post.objects.of(ann).count() == 1
    assert post(as_ann, text.split()[0]).status_code == 200
    assert post(as_ann, "no links").status_code == 200


def test_limit_is_exact_under_concurrency(ann, settings):
    settings.TAGS_PER_DAY = 3
    calls = [lambda: create_post(ann, Draft("#a"))] * 6
    assert len(failures(run_together(calls))) == 3
    assert Post.objects.of(ann).count() == 3


def test_limit_starts_again_the_next_day(ann, settings):
    settings.TAGS_PER_DAY = 1
    day = 86_400 * 30_000
    for now_s in (day + 5, day + 86_405):
        create_post(ann, Draft("#a"), clock_s=lambda now_s=now_s: now_s)
    assert Post.objects.of(ann).count() == 2


def test_repeated_key_counts_its_links_once(as_ann, settings):
    settings.TAGS_PER_DAY = 1
    made = [
        as_ann.post(STATUSES, {"status": "#a"}, **{"Idempotency-Key": "one"}).json()["id"]
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_addresses_count_as_23_characters(as_ann, settings):
    settings.POST_MAX_CHARACTERS = 30
    long = "https://a.example/" + "x" * 100
    assert post(as_ann, f"{long} 123456").status_code == 200
    assert post(as_ann, f"{long} 1234567").status_code == 422
