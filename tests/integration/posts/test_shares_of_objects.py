"""What mentions an object is on its page and in its followers' homes, and nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from infra.changes.verbs.delivering import ReplayChanges
from posts.actions import share_post
from tests.callers import ids_of
from tests.dying import Killed, die
from tests.integration.integrations.services import Service
from tests.integration.posts.interacting import STATUSES, reply, see
from tests.world import drain_all, make_account

OBJECTS = "/api/v1/services/objects/recipe"


@pytest.fixture
def service(world):
    service = Service()
    service.put("/api/v1/services/object_kinds/recipe", {"words": {"en": "recipe"}})
    return service


@pytest.fixture
def soup(service):
    return make_object(service, username="soup")


def make_object(service, external_id="17", **fields):
    answer = service.put(f"{OBJECTS}/{external_id}", {"title": "Lentil soup", **fields})
    assert answer.status_code == 200, answer.content
    return answer.json()["account_id"]


def publish(caller, text="Cooked @soup", **fields):
    answer = caller.post(STATUSES, {"status": text, **fields})
    assert answer.status_code == 200, answer.content
    drain_all()
    return answer.json()["id"]


def shared_by(caller, account_id):
    """The posts on the page of an account, those that it shares as their originals."""
    drain_all()
    answer = caller.get(f"/api/v1/accounts/{account_id}/statuses")
    return [(entry["reblog"] or entry)["id"] for entry in answer.json()]


def home_of(caller):
    drain_all()
    entries = caller.get("/api/v1/timelines/home").json()
    return [(entry["reblog"] or entry)["id"] for entry in entries]


def follow(caller, account_id):
    assert caller.post(f"/api/v1/accounts/{account_id}/follow").status_code == 200
    drain_all()


def test_followers_of_an_object_see_what_strangers_post_about_it(soup, me, you):
    follow(me, soup)
    post = publish(you)
    assert shared_by(me, soup) == [post]
    (entry,) = me.get("/api/v1/timelines/home").json()
    assert (entry["account"]["id"], entry["reblog"]["id"]) == (soup, post)
    assert entry["account"]["object"]["kind"] == "recipe"


def test_it_shares_neither_replies_nor_posts_that_not_all_may_see(soup, me, you):
    follow(me, soup)
    first = publish(you, "hello")
    for visibility in ("unlisted", "private", "direct"):
        publish(you, visibility=visibility)
    reply(you, first, "@soup is better")
    publish(you, "no mention")
    assert shared_by(me, soup) == home_of(me) == []


def test_the_author_is_a_person_and_hears_of_it_as_of_any_repost(soup, you):
    post = publish(you)
    assert see(you, post)["reblogs_count"] == 1
    assert ids_of(you.get(f"{STATUSES}/{post}/reblogged_by")) == [soup]
    (notification,) = you.get("/api/v1/notifications").json()
    assert (notification["type"], notification["account"]["id"]) == ("reblog", soup)


def test_a_post_about_several_objects_is_on_the_page_of_each(service, soup, me, you):
    bread = make_object(service, "18", username="bread")
    follow(me, soup)
    follow(me, bread)
    post = publish(you, "@soup with @bread and @nothing")
    assert shared_by(me, soup) == shared_by(me, bread) == [post]
    assert home_of(me) == [post], "merged, as reposts are"


def test_who_blocks_or_is_blocked_is_not_shared(service, soup, me, you, them):
    assert service.post(f"/api/v1/accounts/{you.id}/block", soup).status_code == 200
    them.post(f"/api/v1/accounts/{soup}/block")
    drain_all()
    publish(you)
    publish(them)
    assert shared_by(me, soup) == []


def test_a_locked_object_shares_its_members_only(service, me, you, them):
    soup = make_object(service, username="soup", locked=True)
    for member in (you, them):
        follow(member, soup)
    assert service.post(f"/api/v1/follow_requests/{you.id}/authorize", soup).status_code == 200
    drain_all()
    publish(me)
    publish(them)
    post = publish(you)
    assert shared_by(you, soup) == [post]


def test_a_quiet_member_is_not_told_by_a_share(service, me, you):
    soup = make_object(service, username="soup")
    you.post(f"/api/v1/accounts/{soup}/follow", {"quiet": True})
    make_object(service, locked=True)
    publish(you)
    assert shared_by(me, soup) == []


def test_a_deleted_post_leaves_the_page(soup, me, you):
    follow(me, soup)
    post = publish(you)
    assert home_of(me) == [post]
    you.delete(f"{STATUSES}/{post}")
    assert shared_by(me, soup) == home_of(me) == []


def test_an_edit_begins_and_ends_a_share(soup, me, you):
    post = publish(you, "hello")
    for text, shared in (("hello @soup", [post]), ("@soup hello", [post]), ("hello", [])):
        assert you.put(f"{STATUSES}/{post}", {"status": text}).status_code == 200
        assert shared_by(me, soup) == shared


def test_what_a_service_took_back_stays_so(service, soup, me, you):
    post = publish(you)
    assert shared_by(me, soup) == [post]
    assert service.post(f"{STATUSES}/{post}/unreblog", soup).status_code == 200
    replay_all()
    assert shared_by(me, soup) == []


def replay_all():
    drain_all()
    call_command(ReplayChanges(), since=datetime.now(UTC) - timedelta(hours=1), verbosity=0)
    drain_all()


def test_a_share_that_was_killed_comes_with_the_next_run(soup, me, you, monkeypatch):
    you.post(STATUSES, {"status": "Cooked @soup"})
    with monkeypatch.context() as killing:
        killing.setattr(share_post, "repost", lambda *_: die())
        with pytest.raises(Killed):
            drain_all()
    assert len(shared_by(me, soup)) == 1
    replay_all()
    assert len(shared_by(me, soup)) == 1


def test_mentions_of_people_are_no_shares(world, me, you):
    make_account("ann")
    post = publish(you, "hi @ann")
    assert see(me, post)["reblogs_count"] == 0


def test_a_deleted_object_shares_nothing(service, soup, you):
    service.delete(f"{OBJECTS}/17")
    assert see(you, publish(you))["reblogs_count"] == 0


def test_the_service_reads_what_is_posted_to_its_object(service, soup, you):
    """A direct post is for the object alone."""
    post = publish(you, "@soup may I have the recipe?", visibility="direct")
    (conversation,) = service.get("/api/v1/conversations", soup).json()
    assert conversation["last_status"]["id"] == post
