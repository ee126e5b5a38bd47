"""The finder: from an operator's text to the pages about it."""

from django.conf import settings
from django.urls import reverse

from accounts.models import Account
from infra.changes.parking import park
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_all
from moderation.types import DecisionKind
from operations.queries.finder import find
from posts.actions.delete_post import delete_post
from posts.actions.repost import repost
from relations.actions.block import block
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.types import FollowOptions
from tests.budgets import count_calls
from tests.people import decide, decide_on
from tests.world import drain_all, make_account, make_accounts, publish

GARBAGE = [
    *("\x00", "ann\x00", "2" * 20, str(2**64), "-1", "0", "'; drop", "a b c", "@", "->", "/"),
    *("http://[", "é" * 499, "x" * 10_000, "zzzzzzzzzzzzzz", "﷽ ٣", "nobody here", "%00"),
]


def text_of(browser, url, status=200):
    answer = browser.get(url)
    assert answer.status_code == status, answer.content
    return " ".join(answer.content.decode().split())


def urls(text):
    return [one.url for one in find(text)]


def test_an_account_is_found_by_name_id_and_link(world):
    ann = make_account("ann")
    for how in ("ann", "@ann", "ANN", "https://x.example/@ann", f" {ann} ", "/@ann/"):
        assert urls(how) == [reverse("find_account", args=[ann])], how


def test_a_post_is_found_by_id_and_link(world):
    post = publish(make_account("ann"))
    site = "https://x.example"
    for how in (post.public, post.base36, f" {post.public}/ ", f"{site}/{post.base36}"):
        assert urls(how) == [reverse("find_post", args=[post.public])], how
    assert urls(f"{site}/@ann/{post.public}") == [reverse("find_post", args=[post.public])]


def test_an_edge_is_found_by_its_pair(world):
    ann, ben = make_account("ann"), make_account("ben")
    for how in (f"ann {ben}", "@ann,@ben", f"{ann} -> ben", "ann → ben"):
        assert urls(how) == [reverse("find_edge", args=[ann, ben])], how


def test_what_may_mean_several_things_is_asked_back(operator):
    first = make_account("ann")
    named = make_account(str(first))
    found = [reverse("find_account", args=[one]) for one in (first, named)]
    assert urls(str(first)) == found
    page = text_of(operator, reverse("find") + f"?q={first}")
    assert all(url in page for url in found)
    # With an @ it is a name.
    assert urls(f"@{first}") == [found[1]]


def test_one_thing_is_shown_at_once(operator):
    ann = make_account("ann")
    answer = operator.get(reverse("find"), {"q": "ann"})
    assert answer.headers["Location"] == reverse("find_account", args=[ann])


def test_anything_may_be_typed(operator):
    for text in GARBAGE:
        answer = operator.get(reverse("find"), {"q": text})
        assert answer.status_code == 200, text
        assert ("Nothing found" in answer.content.decode()) == bool(text.strip()), text


def test_finding_asks_the_default_database_by_key_alone(world):
    ann, _ = make_account("ann"), make_account("ben")
    for text, most in (("ann", 1), ("ann ben", 2), (publish(ann).public, 2), ("nobody", 1)):
        with count_calls() as calls:
            find(text)
        assert set(calls.sql) == {"default"}
        assert calls.sql["default"] <= most
        assert calls.round_trips == 0


def test_an_account_with_all_that_is_known_of_it(operator):
    ann, ben = make_account("ann"), make_account("ben")
    follow(ben, ann)
    publish(ann)
    drain_all()
    decide(ann, DecisionKind.LIMIT)
    drain_all()
    follow(ann, ben)
    alias = shard_of(ann)
    (change,) = [i for (i,) in fetch_all(alias, "SELECT id FROM changes_change")]
    park(alias, [change], "odd")
    page = text_of(operator, reverse("find_account", args=[ann]))
    for words in (
        "@ann",
        f"On {alias}, bucket {ann % 16_384}",
        '<th scope="row">followers</th> <td>1 </td>',
        '<th scope="row">posts</th> <td>1 </td>',
        "limited (revision 1)",
        "limit",
        "spam",
        f"#{change} relations.edge_changed",
        reverse("home_timeline", args=[ann]),
    ):
        assert words in page, words
    # Acting is for moderators.
    assert reverse("admin:moderation_decision_add") not in page


def test_the_user_is_ahead_of_the_shard(operator):
    ann = make_account()
    page = text_of(operator, reverse("find_account", args=[ann]))
    assert "Behind" not in page
    decide(ann, DecisionKind.LIMIT)
    Account.objects.of(ann).filter(id=ann).update(restrictions=0, restriction_revision=0)
    assert "Behind" in text_of(operator, reverse("find_account", args=[ann]))


def test_an_account_asks_its_own_shard_only(operator):
    ann = make_account()
    operator.get(reverse("find_account", args=[ann]))
    with count_calls() as calls:
        operator.get(reverse("find_account", args=[ann]))
    shards = {alias: count for alias, count in calls.sql.items() if alias != "default"}
    assert shards == {shard_of(ann): 4}
    # Session, user, its token and second step, permissions, the user looked at, acts.
    assert calls.sql["default"] <= 8
    assert not any("count(" in one.sql.lower() for one in calls.statements)


def test_what_a_post_is(operator):
    ann, ben = make_accounts(2)
    post = publish(ann, "so it <b>is</b>")
    shared = repost(ben, post)
    drain_all()
    page = text_of(operator, reverse("find_post", args=[post.public]))
    for words in ("so it &lt;b&gt;is", "shown", '<th scope="row">reposts</th> <td>1 </td>'):
        assert words in page, words
    page = text_of(operator, reverse("find_post", args=[shared.public]))
    assert reverse("find_post", args=[post.public]) in page
    decide_on(post, DecisionKind.HIDE)
    drain_all()
    page = text_of(operator, reverse("find_post", args=[post.public]))
    assert "hidden by moderators since" in page
    assert f"hide {post.public}: spam" in page
    delete_post(post)
    assert "a tombstone remain" in text_of(operator, reverse("find_post", args=[post.public]))


def test_a_post_asks_one_shard(operator):
    post = publish(make_account())
    with count_calls() as calls:
        operator.get(reverse("find_post", args=[post.public]))
    assert {a: n for a, n in calls.sql.items() if a != "default"} == {shard_of(post.author_id): 2}


def test_posts_that_never_were(operator):
    post = publish(make_account())
    other = post._replace(sequence=post.sequence + 7).public
    assert "no tombstone" in text_of(operator, reverse("find_post", args=[other]))
    for odd in ("x", "ZZZZZZZZZZZZZZ", "\x00" * 14, "1" * 200, "zzzzzzzzzzzzz!"):
        assert "not a post id" in text_of(operator, reverse("find_post", args=[odd]), 404)
    # The author does not exist.
    assert "no tombstone" in text_of(
        operator, reverse("find_post", args=["zzzzzz" + "zzzzzz" + "zz"])
    )


def test_an_edge_from_both_sides(operator):
    ann, ben = make_accounts(2)
    follow(ann, ben, FollowOptions(quiet=True, special=True))
    page = text_of(operator, reverse("find_edge", args=[ann, ben]))
    for words in ("quiet follow", "special", "behind: a change is pending", "no row"):
        assert words in page, words
    drain_all()
    page = text_of(operator, reverse("find_edge", args=[ann, ben]))
    assert "<td>agrees </td>" in page
    assert "<td>agrees: there is no edge </td>" in page
    mute(ann, ben)
    block(ben, ann)
    drain_all()
    page = text_of(operator, reverse("find_edge", args=[ann, ben]))
    for words in (
        "<td>block </td>",
        "<td>ended </td>",
        "<td>on </td>",
        "ended",
    ):
        assert words in page, words
    assert "WRONG" not in page


def test_a_mirror_of_nothing_is_wrong(operator):
    ann, ben = make_accounts(2)
    follow(ann, ben)
    drain_all()
    execute(shard_of(ann), "DELETE FROM relations_forwardedge")
    assert "WRONG: there is no such edge" in text_of(
        operator, reverse("find_edge", args=[ann, ben])
    )


def test_an_edge_asks_two_shards_at_most(operator):
    ann, ben = make_accounts(2)
    with count_calls() as calls:
        operator.get(reverse("find_edge", args=[ann, ben]))
    assert {a: n for a, n in calls.sql.items() if a != "default"} == {
        shard_of(ann): 1,
        shard_of(ben): 1,
    }


def test_unknown_accounts(operator):
    assert "There is no account" in text_of(operator, reverse("find_account", args=[99999]), 404)
    assert "two accounts" in text_of(operator, reverse("find_edge", args=[5, 5]), 404)
    for path in ("account/0", f"account/{2**64}", "account/x", f"edge/{2**64}/1", "edge/1/%00"):
        assert operator.get(f"/admin/find/{path}/").status_code == 404
    # Two unknown ids: their shards have no rows.
    assert "no row" in text_of(operator, reverse("find_edge", args=[5, 6]))


def test_a_shard_that_is_down_is_said_to_be(operator, take_down):
    ann = make_account()
    ben = next(
        i for i in make_accounts(len(settings.SHARD_ALIASES)) if shard_of(i) != shard_of(ann)
    )
    post, down = publish(ann), shard_of(ann)
    take_down(down)
    for name, args in (("find_account", [ann]), ("find_post", [post.public])):
        page = text_of(operator, reverse(name, args=args))
        assert f"{down} does not answer:" in page
        assert "moderators" in page
    page = text_of(operator, reverse("find_edge", args=[ann, ben]))
    assert f"{down} does not answer:" in page
    assert "no row" in page
