"""A change of another process ends copies in this process by its invalidation, not by their age."""

import pytest

from accounts.cache import profiles
from accounts.queries import in_process
from accounts.queries.viewers import find_viewer
from counters.cache import account_counts
from infra.api.pages import Window
from infra.caching import invalidation, invalidation_log
from infra.caching.copy_ages import AgeLimit
from infra.caching.invalidation_log import LOG
from infra.caching.process_cache import ProcessCache
from infra.caching.questions import Question, answer
from posts.cache import counts
from posts.cache.in_process import in_process_posts
from relations.actions.follow import follow
from tests.api_process import ApiProcess
from tests.callers import is_disabled, token_of
from tests.waiting import until
from tests.world import drain_all, make_account, publish, rest
from timelines.queries.home import home_page

AGES = 3600.0
PATIENT = AgeLimit(AGES, AGES)


@pytest.fixture(autouse=True)
def ages(world, monkeypatch):
    """Copies do not expire by age."""
    monkeypatch.setattr(in_process, "_accounts", ProcessCache("accounts.account", 100, PATIENT))
    monkeypatch.setattr(
        counts, "_counts_in_memory", counts._CountsInMemory("posts.counts", 100, PATIENT)
    )
    monkeypatch.setattr(invalidation_log, "FRESH_S", AGES)
    copies = {**invalidation._copies}
    for family in (profiles.family, account_counts.family):
        copies[family] = [*copies[family], in_process._accounts]
    family = counts.post_counts.family
    copies[family] = [*copies[family], counts._counts_in_memory]
    monkeypatch.setattr(invalidation, "_copies", copies)


@pytest.fixture
def other(world):
    """Does something in another process; returns when it is done."""
    with ApiProcess() as process:
        yield process.do


def account(account_id):
    return answer(in_process.ask_accounts([account_id]))[account_id]


def shown_counts(post_id):
    return answer(ask_counts_of(post_id))[post_id]


def ask_counts_of(post_id):
    existing = Question((), lambda _: {post_id: b""})
    existing.receive(())
    return counts.ask_counts([post_id], existing)


def test_profile_changed_elsewhere(other):
    ann = make_account()
    assert b"Renamed" not in account(ann)
    assert not in_process.ask_accounts([ann]).commands()
    other("rename", ann)
    until(lambda: b"Renamed" in account(ann))


def test_post_favourited_elsewhere(other):
    ann, bob = make_account(), make_account()
    post = publish(ann)
    assert b'"favourites_count":0' in shown_counts(post)
    assert not ask_counts_of(post).commands()
    other("favourite", bob, ann, post.moment)
    until(lambda: b'"favourites_count":1' in shown_counts(post))


def test_token_ended_elsewhere(other):
    ann = make_account()
    token = token_of(ann)
    assert find_viewer(token).account_id == ann
    other("suspend", ann)
    until(lambda: is_disabled(token))


def test_finished_posts_show_what_changed_elsewhere(other):
    me, ann = make_account(), make_account()
    follow(me, ann)
    post = publish(ann)
    drain_all()

    def page():
        rest()
        return b"".join(home_page(me, Window(20)).items)

    for _ in range(2):
        assert b'"favourites_count":0' in page()
    assert in_process_posts.find_finished([post], LOG.read())
    other("rename", ann)
    until(lambda: b"Renamed" in page())
    assert in_process_posts.find_finished([post], LOG.read())
    other("favourite", me, ann, post.moment)
    until(lambda: b'"favourites_count":1' in page())
