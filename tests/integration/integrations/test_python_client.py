"""tideline-client against this Tideline, by WSGI in the process of the test."""

import json
import threading
from itertools import islice
from types import SimpleNamespace

import httpx
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections

from accounts.scopes import OF_SERVICES
from lab.runner.port import HOST
from posts.models import Post
from relations.actions.follow import follow
from tests.callers import token_of
from tests.integration.integrations.services import Service
from tests.integration.streaming.serving import running_streams
from tests.pictures import picture
from tests.world import drain_all, make_account, make_accounts, publish
from tideline_client import (
    InvalidRequest,
    NotAllowed,
    NotFound,
    PositionGone,
    QuotaUsedUp,
    Tideline,
    TokenRefused,
    models,
    services,
)

PUBLISH_AFTER_S = 0.5
MOST_PAGES = 100_000
SITE = "http://localhost:8000"
pytestmark = pytest.mark.usefixtures("world")


def connect(token, **options):
    http = httpx.Client(transport=httpx.WSGITransport(app=WSGIHandler()))
    return Tideline(SITE, token, http=http, **options)


@pytest.fixture
def client():
    return connect(Service(*OF_SERVICES).made.token)


def test_provisioning(client):
    made = client.provisioning.put("user-1001", username="ann", display_name="Ann", locked=False)
    assert (made.username, made.created) == ("ann", True)
    assert not client.provisioning.put("user-1001", note="Tea").created
    assert client.provisioning.get("user-1001").account_id == made.account_id
    outcomes = client.provisioning.put_many(
        [{"external_id": "user-1001", "note": "x"}, {"external_id": "user-1002"}]
    )
    assert [each.status for each in outcomes] == [200, 422]
    assert "username" in (outcomes[1].details or {})
    bound = client.provisioning.find(external_ids=["user-1001", "nobody"])
    assert [each.account_id for each in bound] == [made.account_id]
    with pytest.raises(NotFound):
        client.provisioning.get("user-7")
    with pytest.raises(InvalidRequest) as caught:
        client.provisioning.put("user-7", username="ann")
    assert [*caught.value.details] == ["username"]


def test_the_end_of_an_account(client):
    client.provisioning.put("user-1001", username="ann")
    assert client.provisioning.put("user-1001", active=False).suspended
    assert not client.provisioning.put("user-1001", active=True).suspended
    for _ in range(2):
        assert client.provisioning.delete("user-1001").suspended
    with pytest.raises(NotAllowed):
        client.provisioning.put("user-1001", active=True)


def test_posts_follows_and_feeds_of_accounts(client):
    ann, ben = (client.acting_for(str(account)) for account in make_accounts(2))
    me, other = ann.accounts.me().id, ben.accounts.me().id
    assert ben.accounts.follow(me).following
    status = ann.statuses.create("Hello, tide", visibility="public")
    drain_all()
    assert [each.id for each in ben.timelines.home()] == [status.id]
    ben.statuses.favourite(status.id)
    repost = ben.statuses.reblog(status.id)
    assert repost.reblog is not None
    assert repost.reblog.id == status.id
    drain_all()
    assert ann.statuses.get(status.id).favourites_count == 1
    shown = {each.type for each in ann.notifications.mine()}
    assert shown == {"reblog", "favourite", "follow"}
    assert [each.id for each in ann.accounts.followers(me)] == [other]
    assert ben.accounts.relationships([me])[0].following
    assert not ben.accounts.unfollow(me).following
    ann.statuses.delete(status.id)
    with pytest.raises(NotFound):
        ben.statuses.get(status.id)


def test_a_key_makes_one_post(client):
    ann = client.acting_for(str(make_account()))
    made = {ann.statuses.create("once", idempotency_key="order-77").id for _ in range(2)}
    assert len(made) == 1
    assert ann.statuses.create("once").id not in made


def test_polls_images_lists_markers_and_searches(client):
    ann = client.acting_for(str(make_account()))
    image = ann.media.upload(picture())
    status = ann.statuses.create("Look", media_ids=[image.id])
    assert status.media_attachments[0]["id"] == image.id
    poll = ann.statuses.create("?", poll={"options": ["a", "b"], "expires_in": 600}).poll
    assert poll is not None
    assert [option.title for option in poll.options] == ["a", "b"]
    made = ann.lists.create("Friends")
    assert [each.title for each in ann.lists.mine()] == ["Friends"]
    assert ann.lists.update(made.id, title="People").title == "People"
    ann.lists.delete(made.id)
    marker = ann.markers.move(home={"last_read_id": status.id})
    assert marker.home is not None
    drain_all()
    assert ann.search.find("Look").statuses is not None
    assert ann.accounts.update_me(display_name="Ann A.").display_name == "Ann A."
    assert ann.accounts.preferences().posting_default_visibility == "public"


def test_a_feed_of_many_pages(client):
    ann = make_account()
    posts = [publish(ann).public for _ in range(7)]
    home = client.acting_for(str(ann)).timelines.home(limit=3)
    assert [status.id for status in home] == posts[::-1]
    page = home.first()
    assert page.next is not None
    older = client.acting_for(str(ann)).timelines.home(limit=3, **page.next).first()
    assert [status.id for status in older] == posts[3:0:-1]


def test_relations_of_any_accounts(client):
    ids = [str(account) for account in make_accounts(4)]
    ann, ben, cyd, dan = ids
    for follower, followee in ((ben, ann), (cyd, ann), (ann, ben)):
        client.acting_for(follower).accounts.follow(followee)
    drain_all()
    assert client.relations.followers_among(ann, ids) == {ben, cyd}
    assert client.relations.followed_among(ann, ids) == {ben}
    page = client.relations.mutuals(ann).first()
    assert ([each.account_id for each in page], page.total) == ([ben], 1)
    assert [each.account_id for each in client.relations.mutuals(dan)] == []
    counts = client.acting_for(ann).accounts.relation_counts()
    assert (counts.followers_count, counts.following_count) == (2, 1)


def test_following_events(client, monkeypatch):
    ann = make_account()
    drain_all()
    start = client.events.read().position
    post = client.acting_for(str(ann)).statuses.create("Hello")
    drain_all()
    monkeypatch.setattr(services, "time", SimpleNamespace(sleep=lambda _: None))
    # A transaction in the database of another test keeps events back, too.
    pages = islice(client.events.follow(start), MOST_PAGES)
    event = next(event for page in pages for event in page.events)
    assert (event.type, event.data["post_id"]) == ("post.created", post.id)
    with pytest.raises((PositionGone, InvalidRequest)):
        next(client.events.follow("nonsense"))


class PublishingTransport(httpx.HTTPTransport):
    """Somebody posts while a request to the streaming process waits."""

    def __init__(self, publish_later):
        super().__init__()
        self.publish_later = publish_later

    def handle_request(self, request):
        self.publish_later()
        return super().handle_request(request)


def test_an_event_ends_the_wait_at_the_streaming_process(client, tmp_path, settings, monkeypatch):
    ann = make_account()
    drain_all()
    published = []

    def publish_now():
        published.append(publish(ann).public)
        drain_all()
        connections.close_all()

    def publish_later():
        threads.append(threading.Timer(PUBLISH_AFTER_S, publish_now))
        threads[-1].start()

    threads: list[threading.Timer] = []
    with running_streams(tmp_path / "streaming.log") as (_, port):
        settings.STREAMING_URL = f"ws://{HOST}:{port}"
        http = httpx.Client(
            transport=httpx.WSGITransport(app=WSGIHandler()),
            mounts={f"http://{HOST}:{port}": PublishingTransport(publish_later)},
        )
        waiting = Tideline(SITE, client._connection.caller.token, http=http)
        monkeypatch.setattr(services, "time", SimpleNamespace(sleep=never))
        page = next(waiting.events.follow(waiting.events.read().position))
        for thread in threads:
            thread.join()
        http.close()
    assert [event.data["post_id"] for event in page.events] == published
    assert len(published) == 1


def test_a_stream_of_a_person_goes_on_behind_its_last_event(tmp_path, settings):
    ann, ben = make_accounts(2)
    follow(ben, ann)
    published, threads = [], []

    def publish_now():
        published.append(publish(ann).public)
        drain_all()
        connections.close_all()

    def publish_later():
        threads.append(threading.Timer(PUBLISH_AFTER_S, publish_now))
        threads[-1].start()

    with running_streams(tmp_path / "streaming.log") as (_, port):
        settings.STREAMING_URL = f"ws://{HOST}:{port}"
        http = httpx.Client(
            transport=httpx.WSGITransport(app=WSGIHandler()),
            mounts={f"http://{HOST}:{port}": PublishingTransport(publish_later)},
        )
        reader = Tideline(SITE, token_of(ben), http=http)
        first = next(reader.streams.follow("user"))
        again = reader.streams.follow("user", last_event_id=first.id)
        resumed, second = next(again), next(again)
        for thread in threads:
            thread.join()
        http.close()
    shown = [each.read_as(models.Status).id for each in (first, second)]
    assert shown == published
    assert (resumed.event, json.loads(resumed.data)) == ("resume", {"outcome": "nothing_missed"})


def never(seconds):
    raise AssertionError("it asks again and again")


def test_refusals_have_their_classes(client):
    with pytest.raises(TokenRefused):
        connect("wrong").acting_for("1").timelines.home().first()
    reader = connect(Service("service:read").made.token).acting_for(str(make_account()))
    with pytest.raises(NotAllowed) as caught:
        reader.statuses.create("no")
    assert caught.value.status == 403
    assert len(caught.value.request_id) == 32
    assert not Post.objects.on("shard0").exists()
    with pytest.raises(InvalidRequest, match="Tideline-Account"):
        client.acting_for("ann").timelines.home().first()
    few = connect(Service("service:accounts", quota=1).made.token, retries=0)
    with pytest.raises(NotFound):
        few.provisioning.get("x")
    with pytest.raises(QuotaUsedUp) as used:
        few.provisioning.get("x")
    assert used.value.retry_after_s > 0
