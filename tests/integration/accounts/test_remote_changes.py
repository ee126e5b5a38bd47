"""A change of another process is in this one's next answer; an ended token ends without delay."""

import pytest

from accounts.queries.load import get_account_json
from accounts.queries.viewers import find_viewer
from infra.api.pages import Window
from posts.reading.statuses import load_status_json
from relations.actions.follow import follow
from tests.api_process import ApiProcess
from tests.callers import is_disabled, token_of
from tests.waiting import until
from tests.world import drain_all, make_account, publish
from timelines.home.page import home_page


@pytest.fixture
def other(world):
    """Does something in another process; returns when it is done."""
    with ApiProcess() as process:
        yield process.do


def test_profile_changed_elsewhere(other):
    ann = make_account()
    assert b"Renamed" not in get_account_json(ann)
    other("rename", ann)
    assert b"Renamed" in get_account_json(ann)


def test_post_favourited_elsewhere(other):
    ann, bob = make_account(), make_account()
    post = publish(ann)
    assert b'"favourites_count":0' in load_status_json([post])[post]
    other("favourite", bob, ann, post.moment)
    until(lambda: b'"favourites_count":1' in load_status_json([post])[post])


def test_token_ended_elsewhere(other):
    ann = make_account()
    token = token_of(ann)
    assert find_viewer(token).account_id == ann
    other("suspend", ann)
    assert is_disabled(token)


def test_remembered_pages_show_what_changed_elsewhere(other):
    me, ann = make_account(), make_account()
    follow(me, ann)
    post = publish(ann)
    drain_all()

    def page():
        return b"".join(home_page(me, Window(20)).items)

    for _ in range(3):
        assert b'"favourites_count":0' in page()
    other("rename", ann)
    assert b"Renamed" in page()
    other("favourite", me, ann, post.moment)
    until(lambda: b'"favourites_count":1' in page())
