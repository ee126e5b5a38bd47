"""Which replies home shows, and which posts it leaves out because of whom they address."""

import json
import time
from functools import partial

import pytest

from infra.api.pages import Window
from infra.caching.client import redis
from posts.actions.create_post import create_post
from posts.actions.repost import repost
from posts.ids import EPOCH, PostId
from posts.reading.hydrate import ask_posts
from posts.types import Draft
from relations.actions.block import block, unblock
from relations.actions.follow import follow, unfollow
from relations.actions.mute import mute, unmute
from relations.types import FollowOptions
from tests.api_process import ApiProcess
from tests.budgets import count_calls
from tests.callers import Caller, ids_of, token_of
from tests.integration.timelines.catching_up import mark, read_all
from tests.integration.timelines.homes import at, first_page, read_from_bottom, read_to_end
from tests.integration.timelines.homes import ids_of as entity_ids
from tests.integration.timelines.last_post_indexes import begin_long_ago, catch_up, no_thread, since
from tests.world import drain_all, make_account, publish
from timelines.feeds import ruled
from timelines.feeds.feed import collect
from timelines.home.page import home_page
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind
from timelines.types import Entry

HOME, LISTS = "/api/v1/timelines/home", "/api/v1/lists"
UPDATE, PREFERENCES = "/api/v1/accounts/update_credentials", "/api/v1/preferences"
CHOICES = ("followed", "all", "none")


class Reader(Caller):
    """I follow ann, and bob quietly. The stranger and the fourth are followed by no account."""

    def __init__(self):
        self.me, self.ann, self.bob = map(make_account, ("me", "ann", "bob"))
        self.stranger, self.fourth = make_account("stranger"), make_account("fourth")
        super().__init__(self.me)
        follow(self.me, self.ann)
        follow(self.me, self.bob, FollowOptions(quiet=True))
        self.theirs = publish(self.stranger, "question")
        drain_all()

    def choose(self, choice):
        answer = self.client.patch(UPDATE, {"source": {"home_replies": choice}}, "application/json")
        assert answer.status_code == 200, answer.content
        assert answer.json()["source"]["home_replies"] == choice
        assert self.get(PREFERENCES).json()["reading:home:replies"] == choice

    def reply(self, author, parent, text="answer", **options):
        return create_post(author, Draft(text, in_reply_to=parent, thread=parent), **options)

    def make_list(self, policy="none"):
        made = self.post(LISTS, {"title": "a", "replies_policy": policy}).json()["id"]
        accounts = [str(self.ann), str(self.bob)]
        self.post(f"{LISTS}/{made}/accounts", {"account_ids": accounts})
        return f"/api/v1/timelines/list/{made}"

    @property
    def home(self):
        return ids_of(self.get(HOME))


@pytest.fixture
def reader(world):
    return Reader()


def _read_in(process, token):
    """Home, as another web process answers."""
    status, text = process.do("GET", token, HOME, None)
    assert status == 200, text
    return [post["id"] for post in json.loads(text)]


def _public(*posts):
    return [post.public for post in sorted(posts, reverse=True)]


@pytest.fixture
def conversations(reader):
    """By whom each reply is shown at home."""
    bobs, anns = publish(reader.bob, "bob's"), publish(reader.ann, "ann's")
    mine = publish(reader.me, "mine")
    always = {bobs, anns, mine, reader.reply(reader.me, reader.theirs)}
    always.add(reader.reply(reader.ann, mine))
    always.add(repost(reader.bob, reader.reply(reader.fourth, reader.theirs)))
    followed = {reader.reply(reader.ann, bobs), reader.reply(reader.ann, anns)}
    drain_all()
    strange = {reader.reply(reader.ann, reader.theirs, "@bob, look")}
    drain_all()
    return always, followed, strange


def test_a_reader_chooses_which_replies_home_shows(reader, conversations):
    always, followed, strange = conversations
    shown = {"followed": always | followed, "all": always | followed | strange, "none": always}
    assert reader.home == _public(*shown["followed"]), "the choice of who chose nothing"
    with ApiProcess() as other:
        token = token_of(reader.me)
        for choice in (*CHOICES, *CHOICES):
            reader.choose(choice)
            assert reader.home == _public(*shown[choice])
            assert _read_in(other, token) == _public(*shown[choice])
            assert read_to_end(reader.me, 3) == read_from_bottom(reader.me, 3) == reader.home
            redis().call("FLUSHDB")
            assert reader.home == _public(*shown[choice]), "rebuilt"


@pytest.mark.parametrize("sent", ["some", 1, "FOLLOWED"])
def test_an_unknown_choice_is_refused_by_name(reader, sent):
    answer = reader.client.patch(UPDATE, {"source": {"home_replies": sent}}, "application/json")
    assert answer.status_code == 422 and "home_replies" in str(answer.json()["details"])
    assert reader.get(PREFERENCES).json()["reading:home:replies"] == "followed"


def test_following_the_account_replied_to_counts_at_the_next_read(reader):
    reply = reader.reply(reader.ann, reader.theirs)
    drain_all()
    assert reader.home == []
    with ApiProcess() as other:
        token = token_of(reader.me)
        shown = partial(_read_in, other, token)
        assert shown() == []
        for _ in range(2):
            follow(reader.me, reader.stranger)
            expected = _public(reply, reader.theirs)
            assert reader.home == shown() == expected
            unfollow(reader.me, reader.stranger)
            assert reader.home == shown() == []
            drain_all()
            assert reader.home == shown() == []


ACTS = {"block": (block, unblock), "mute": (mute, unmute)}


@pytest.fixture(params=["mention", "reply", "repost of a mention", "mention among others"])
def addressing(request, reader):
    """A post at home and on a list that addresses the stranger."""
    reader.choose("all")
    made = {
        "mention": lambda: publish(reader.ann, "see @stranger"),
        "reply": lambda: reader.reply(reader.ann, reader.theirs),
        "repost of a mention": lambda: repost(reader.ann, publish(reader.fourth, "@stranger")),
        "mention among others": lambda: publish(reader.ann, "see @bob and @Stranger and @ann"),
    }
    post = made[request.param]()
    drain_all()
    return post


@pytest.mark.parametrize("act", ACTS)
def test_who_i_block_or_mute_is_not_addressed_at_home_nor_on_lists(reader, addressing, act):
    begin, end = ACTS[act]
    on_list = reader.make_list("none")
    is_reply = addressing.public not in ids_of(reader.get(on_list))
    listed = [] if is_reply else [addressing.public]
    for _ in range(2):
        assert reader.home == [addressing.public] and ids_of(reader.get(on_list)) == listed
        begin(reader.me, reader.stranger)
        assert reader.home == ids_of(reader.get(on_list)) == []
        drain_all()
        assert reader.home == ids_of(reader.get(on_list)) == []
        end(reader.me, reader.stranger)
    assert reader.home == [addressing.public]
    redis().call("FLUSHDB")
    begin(reader.me, reader.stranger)
    assert reader.home == ids_of(reader.get(on_list)) == []


def test_only_my_own_blocks_count(reader, addressing):
    block(reader.stranger, reader.me)
    drain_all()
    assert reader.home == [addressing.public]


def test_own_posts_and_those_that_address_me_stay(reader):
    kept = [
        publish(reader.me, "@stranger"),
        publish(reader.ann, "@me and @stranger"),
        reader.reply(reader.bob, publish(reader.me, "mine"), "@stranger"),
    ]
    own = publish(reader.fourth, "@stranger, kept")
    kept.append(repost(reader.me, own))
    drain_all()
    before = reader.home
    assert {post.public for post in kept} < {*before}
    mute(reader.me, reader.stranger)
    assert reader.home == before


def test_a_mute_that_ends_by_the_clock_shows_the_posts_again(reader):
    post = publish(reader.ann, "see @stranger")
    drain_all()
    mute(reader.me, reader.stranger, duration_s=10, clock_ms=lambda: 1_000)
    for now_ms, shown in ((10_999, []), (10_999, []), (11_000, [post.public])):
        assert _home_at(reader.me, now_ms) == shown


def _home_at(reader_id, now_ms):
    page = home_page(reader_id, Window(20), clock_ms=lambda: now_ms)
    return entity_ids(page.items)


def test_replies_that_came_by_a_followed_tag_stay(reader):
    reader.choose("none")
    add_own_tag(reader.me, TagListKind.FOLLOWED, "tea")
    choose_at_home(reader.me, True)
    tagged = [reader.reply(one, reader.theirs, "#tea") for one in (reader.ann, reader.fourth)]
    reader.reply(reader.ann, reader.theirs, "no tag")
    drain_all()
    assert reader.home == _public(*tagged)
    mute(reader.me, reader.stranger)
    assert reader.home == []


def test_a_list_keeps_its_own_choice(reader, conversations):
    _, followed, strange = conversations
    for choice in CHOICES:
        reader.choose(choice)
        shown = ids_of(reader.get(reader.make_list("followed")))
        assert {post.public for post in followed} <= {*shown}
        assert not {post.public for post in strange} & {*shown}


@pytest.mark.parametrize("hides", ["choice", "mute"])
def test_polls_counts_and_catch_ups_follow_the_same_rule(reader, hides):
    marker = publish(reader.bob, "read", clock_s=at(time.time() - EPOCH - 60))
    drain_all()
    assert reader.home == [marker.public]
    mark(reader, marker.public)
    hidden = reader.reply(reader.ann, reader.theirs) if hides == "choice" else None
    hidden = hidden or publish(reader.ann, "@stranger")
    if hides == "mute":
        mute(reader.me, reader.stranger)
    drain_all()
    for query in ({"min_id": marker.public}, {"since_id": marker.public}):
        assert ids_of(reader.get(HOME, query)) == []
    assert reader.get("/api/v1/markers", {"timeline[]": "home"}).json()["home"]["unread_count"] == 0
    assert read_all(reader).ids == []
    follow(reader.me, reader.stranger) if hides == "choice" else unmute(reader.me, reader.stranger)
    assert hidden.public in ids_of(reader.get(HOME, {"min_id": marker.public}))
    assert hidden.public in read_all(reader).ids


@pytest.fixture
def index(world):
    with no_thread():
        begin_long_ago()
        yield


@pytest.mark.parametrize("hides", ["choice", "mute"])
def test_hidden_posts_are_no_news(index, reader, hides):
    news = partial(reader.get, "/api/v1/timelines/home/news", {"since_id": since(20).public})
    if hides == "mute":
        mute(reader.me, reader.stranger)
        publish(reader.ann, "@stranger")
    else:
        reader.reply(reader.ann, reader.theirs)
    drain_all()
    catch_up()
    assert news().json()["accounts"] == []
    publish(reader.ann, "plain")
    drain_all()
    catch_up()
    assert news().json()["accounts"] == [str(reader.ann)]


def test_a_warm_page_with_replies_and_mentions_costs_what_others_cost(reader):
    """Whom a post addresses is known after it was read; the relationships are in the same trip."""
    for n in range(10):
        bobs = publish(reader.bob, f"{n}, see @fourth")
        reader.reply(reader.ann, bobs)
        reader.reply(reader.ann, publish(reader.ann, "@me @stranger"))
    drain_all()
    assert len(first_page(reader.me)) == 20
    with count_calls() as calls:
        assert len(first_page(reader.me)) == 20
    assert (calls.statements, calls.round_trips) == ([], 2)
    with count_calls() as calls:
        first_page(reader.me)
    assert (calls.statements, calls.round_trips) == ([], 1), "the process remembers the page"


@pytest.fixture
def mixed(reader):
    """Every second entry is a reply to a stranger."""
    begin, kept = time.time() - 100, []
    for n in range(30):
        reader.reply(reader.ann, reader.theirs, clock_s=lambda n=n: begin + n)
        kept.append(publish(reader.bob, f"{n}", clock_s=lambda n=n: begin + n))
    drain_all()
    return kept


def test_pages_stay_full_among_replies_to_strangers(reader, mixed):
    assert ids_of(reader.get(HOME, {"limit": 20})) == _public(*mixed)[:20]
    assert read_to_end(reader.me) == read_from_bottom(reader.me) == _public(*mixed)


def test_a_long_run_of_replies_is_passed_by_few_refills():
    posts = [PostId(n, 1, 0) for n in range(100, 0, -1)]
    made = []

    def make(entries):
        made.append(len(entries))
        return [entry for entry in entries if not 30 <= entry.event.second <= 80]

    kept = collect(make, (Entry(post, post) for post in posts), 21)
    assert [entry.event.second for entry in kept] == [*range(100, 80, -1), 29]
    assert made == [21, 6, 12, 21, 21]


def test_known_replies_to_strangers_are_not_read_again(reader, mixed, monkeypatch):
    """The first page of a process reads them. Later ones cost as if there were none, until the
    reader follows the stranger."""
    read = []

    def ask(originals, reposts):
        read.append(len({*originals, *reposts}))
        return ask_posts(originals, reposts)

    monkeypatch.setattr(ruled, "ask_posts", ask)
    assert first_page(reader.me) == _public(*mixed)[:20]
    assert len(read) <= 4 and sum(read) < 3 * 21, "of a process that knows nothing"
    read.clear()
    assert first_page(reader.me) == _public(*mixed)[:20]
    assert read == [21]
    publish(reader.ann)
    reader.reply(reader.ann, reader.theirs)
    drain_all()
    read.clear()
    with count_calls() as calls:
        assert len(first_page(reader.me)) == 20
    assert read[0] == 21 and len(read) <= 2, "one reply is new"
    assert not [each for each in calls.statements if "posts_" in each.sql]
    follow(reader.me, reader.stranger)
    assert len({*first_page(reader.me, 40)} - {*_public(*mixed)}) >= 10
