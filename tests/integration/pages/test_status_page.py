"""One post on a page, and what people do with it there.

Quotes in a browser: written, shown as a card, listed, revoked.

Who may reply, on the pages: chosen in the form of a post, said next to the post, obeyed.
"""

import re
from typing import Any

import pytest

from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.types import Draft, Visibility
from tests.callers import Caller
from tests.integration.pages.browsing import PRESSED, Browser
from tests.world import drain_all, make_account, publish

ADDRESS = re.compile(r'"(url|uri)":"http://localhost:8000(/[^"]+)"')
COUNT = re.compile(r'/(?:reposts|favourites|quotes)"><b>(\d+)</b>')


@pytest.fixture
def post(ann: int) -> PostId:
    return publish(ann)


@pytest.mark.parametrize("act", ["favourite", "reblog", "bookmark"])
def test_an_act_is_done_and_ended_from_the_page(ann: int, post: PostId, act: str) -> None:
    browser, path = Browser(ann), f"/statuses/{post.public}"
    assert PRESSED not in browser.read(path)
    for _ in range(2):
        assert PRESSED in browser.act(f"{path}/{act}")
    assert browser.read(path).count(PRESSED) == 1
    assert PRESSED not in browser.act(f"{path}/un{act}")


def test_without_a_script_the_browser_goes_back_to_its_place(ann: int, post: PostId) -> None:
    there = f"/public#post-{post.public}"
    answer = Browser(ann).send(f"/statuses/{post.public}/favourite", {"next": there})
    assert (answer.status_code, answer["Location"]) == (303, there)


def test_the_thread_is_on_the_page(ann: int, post: PostId) -> None:
    browser = Browser(ann)
    browser.send("/statuses", {"status": "an answer", "in_reply_to_id": post.public})
    page = browser.read(f"/statuses/{post.public}")
    assert page.index(f"post-{post.public}") < page.index("an answer")
    assert f'property="og:url" content="http://localhost:8000/statuses/{post.public}"' in page


def test_answers_to_answers_go_on_in_a_strand(ann: int, post: PostId) -> None:
    """Depth first, as the API orders them: a1 with b and c, then a2, then an answer to a1."""
    answers = {"": post}
    for name, to in (("a1", ""), ("a2", ""), ("b", "a1"), ("c", "b"), ("d", "a1")):
        draft = Draft(name, in_reply_to=answers[to], thread=post)
        answers[name] = create_post(ann, draft)
    drain_all()
    page = Browser(ann).read(f"/statuses/{post.public}")
    _, *strands = page.split('<div class="strand">')
    by_id = {answer.public: name for name, answer in answers.items()}
    named = [
        "".join(by_id[found] for found in re.findall(r'id="post-(\w+)"', part)) for part in strands
    ]
    assert sorted(named) == ["a1bc", "a2", "d"]
    assert ['class="why"' in part for part in strands] == [name == "d" for name in named]


def test_no_message_is_among_the_posts_of_its_author(ann: int) -> None:
    publish(ann, "for all")
    create_post(ann, Draft("psst", visibility=Visibility.DIRECT))
    drain_all()
    page = Browser(ann).read("/@ann")
    assert "for all" in page and "psst" not in page


def test_a_post_is_deleted_after_a_question(ann: int, post: PostId) -> None:
    browser, path = Browser(ann), f"/statuses/{post.public}"
    assert "Delete this post?" in browser.read(f"{path}/delete")
    assert browser.send(f"{path}/delete").status_code == 303
    browser.read(path, 404)
    assert browser.send(f"{path}/delete").status_code == 404


def test_others_cannot_delete_it_and_guests_are_sent_to_sign_in(ann: int, post: PostId) -> None:
    path = f"/statuses/{post.public}"
    other = Browser(make_account())
    other.read(f"{path}/delete", 404)
    assert other.send(f"{path}/delete").status_code == 404
    for act in ("favourite", "delete"):
        answer = Browser().send(f"{path}/{act}")
        assert (answer.status_code, answer["Location"]) == (302, "/auth/sign_in?next=%2F")
    Browser().read(path)


def test_addresses_in_answers_are_pages(ann: int) -> None:
    answer = Caller(ann).post("/api/v1/statuses", {"status": "for @ann about #tea"})
    found = set(ADDRESS.findall(answer.content.decode()))
    assert {name for name, _ in found} >= {"url", "uri"}
    for _, path in found:
        answer = Browser().client.get(path, follow=True)
        assert answer.status_code == 200, path


@pytest.mark.parametrize("path", ["/nothing", "/@nobody", "/statuses/zz", "/statuses/1/unknown"])
def test_an_unknown_address_has_a_page_that_says_so(world: None, path: str) -> None:
    page = Browser().read(path, 404) if "unknown" not in path else ""
    assert "There is no " in page or not page


@pytest.mark.parametrize("act", ["favourite", "reblog"])
def test_a_count_appears_with_the_first_and_goes_with_the_last(
    ann: int, post: PostId, act: str
) -> None:
    browser, path = Browser(ann), f"/statuses/{post.public}"
    shown = re.compile(rf'class="act {act}".*?</svg>(<span>1</span>)?</button>', re.DOTALL)
    assert shown.findall(browser.read(path)) == [""]
    assert shown.findall(browser.act(f"{path}/{act}")) == ["<span>1</span>"]
    assert shown.findall(browser.act(f"{path}/un{act}")) == [""]


def test_a_reply_in_place_counts_on_the_post_above(ann: int, post: PostId) -> None:
    sent = {"status": "yes", "in_reply_to_id": post.public, "place": "thread"}
    part = Browser(ann).act("/statuses", {**sent, "visibility": "public", "key": "k"})
    [link] = re.findall(r'<a [^>]*hx-swap-oob="outerHTML:#post-(\d+) .*?</a>', part, re.DOTALL)
    assert link == post.public
    assert re.search(
        r'hx-swap-oob.*?aria-label="Reply, 1 reply".*?<span>1</span></a>', part, re.DOTALL
    )


def test_a_post_shows_counts_when_there_are_any(ann: int, post: PostId) -> None:
    browser, path = Browser(ann), f"/statuses/{post.public}"
    assert not COUNT.search(browser.read(path))
    browser.act(f"{path}/favourite")
    assert COUNT.findall(browser.read(path)) == ["1"]
    assert '<a class="back" href="/" aria-label="Home">' in browser.read(path)


STATUSES = "/api/v1/statuses"
EVIL = "<script>alert(1)</script>"


def quote_of(author: int, post_id: str) -> Any:
    return Caller(author).get(f"{STATUSES}/{post_id}").json()["quote"]


def test_a_quote_is_written_shown_listed_and_revoked(people: list[int]) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    original = publish(people[0], f"original {EVIL}").public
    assert f'href="/compose?quote={original}"' in bob.read(f"/statuses/{original}")
    form = bob.read(f"/compose?quote={original}")
    assert "original &lt;script&gt;" in form and EVIL not in form
    assert f'name="quoted_status_id" value="{original}"' in form
    sent = {"status": "look", "quoted_status_id": original, "visibility": "public", "key": "k"}
    assert bob.send("/statuses", sent | {"quote_approval_policy": "nobody"}).status_code == 303
    [quoting] = Caller(people[1]).get(f"/api/v1/accounts/{people[1]}/statuses").json()
    assert quoting["quote_approval"]["automatic"] == []
    drain_all()
    page = ann.read(f"/statuses/{original}/quotes")
    assert quoting["id"] in page and "Quoted post by" in page
    assert "quoted your post" in ann.read("/notifications")
    revoke = f"/statuses/{quoting['id']}/revoke_quote"
    assert revoke in page and revoke not in bob.read(f"/statuses/{quoting['id']}")
    bob.read(revoke, 404)
    assert "Take your post out?" in ann.read(revoke)
    assert ann.send(revoke).status_code == 303
    assert quote_of(people[1], quoting["id"])["state"] == "revoked"
    assert "took it out" in bob.read(f"/statuses/{quoting['id']}")
    assert ann.send(revoke).status_code == 303
    assert "There are no quotes yet." in ann.read(f"/statuses/{original}/quotes")


def test_the_author_chooses_who_may_quote(people: list[int]) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    original = publish(people[0], "original").public
    path = f"/statuses/{original}/quotes"
    assert 'name="quote_approval_policy"' in ann.read(path)
    assert 'name="quote_approval_policy"' not in bob.read(path).split("<main", 1)[-1]
    assert ann.send(path, {"quote_approval_policy": "nobody"}).status_code == 303
    assert "/compose?quote=" not in bob.read(f"/statuses/{original}")
    assert f"/compose?quote={original}" in ann.read(f"/statuses/{original}")
    assert bob.send(path, {"quote_approval_policy": "public"}).status_code == 403
    assert ann.send("/settings/privacy", {"privacy": "public", "quote_policy": "followers"})
    assert 'value="followers" selected' in ann.read("/settings/privacy")
    assert 'value="followers" selected' in ann.read("/compose")


def test_a_refused_quote_keeps_the_card(people: list[int]) -> None:
    bob = Browser(people[1])
    original = publish(people[0], "original").public
    sent = {"status": "x" * 6_000, "quoted_status_id": original, "visibility": "public"}
    answer = bob.send("/statuses", sent)
    assert answer.status_code == 422
    assert f'name="quoted_status_id" value="{original}"' in answer.content.decode()
    bob.read("/compose?quote=nonsense", 404)


def test_what_is_not_shown_says_why(people: list[int]) -> None:
    original = publish(people[0], "original").public
    sent = {"status": "look", "quoted_status_id": original}
    quoting = Caller(people[1]).post(STATUSES, sent).json()["id"]
    cyd = Browser(people[2])
    assert "original" in cyd.read(f"/statuses/{quoting}")
    Caller(people[2]).post(f"/api/v1/accounts/{people[0]}/mute")
    page = cyd.read(f"/statuses/{quoting}")
    assert "an account that you mute" in page and ">original<" not in page
    Caller(people[0]).delete(f"{STATUSES}/{original}")
    assert "is deleted" in Browser().read(f"/statuses/{quoting}")


FORM = 'id="reply-text"'


def post_limited(browser: Browser, author: int, policy: str) -> str:
    sent = {"status": "talk to me", "visibility": "public", "key": policy}
    answer = browser.send("/statuses", sent | {"reply_approval_policy": policy})
    assert answer.status_code == 303
    newest: str = Caller(author).get(f"/api/v1/accounts/{author}/statuses").json()[0]["id"]
    return newest


def test_the_page_says_who_may_reply_and_hides_the_form_from_others(people: list[int]) -> None:
    ann, bob, cyd = (Browser(account_id) for account_id in people)
    Caller(people[1]).post(f"/api/v1/accounts/{people[0]}/follow")
    drain_all()
    post_id = post_limited(ann, people[0], "followers")
    for browser, may_reply in ((ann, True), (bob, True), (cyd, False)):
        page = browser.read(f"/statuses/{post_id}")
        assert "Only followers of @" in page
        assert (FORM in page) is may_reply
    page = cyd.client.get(f"/statuses/{post_id}", headers={"accept-language": "de"})
    assert "Nur Follower von @" in page.content.decode()
    sent = {"status": "me too", "in_reply_to_id": post_id, "visibility": "public", "key": "k"}
    answer = cyd.send("/statuses", sent)
    assert answer.status_code == 403
    assert "The author of the post does not let you reply" in answer.content.decode()
    assert "me too" in answer.content.decode(), "what was typed is not lost"


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("following", "Only people @"),
        ("mentioned", "mentions can reply."),
        ("nobody", "can reply."),
    ],
)
def test_each_choice_has_its_words(people: list[int], policy: str, words: str) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    page = bob.read(f"/statuses/{post_limited(ann, people[0], policy)}")
    assert words in page and FORM not in page


def test_the_first_post_hides_the_form_in_its_thread(people: list[int]) -> None:
    ann, cyd = Browser(people[0]), Browser(people[2])
    Caller(people[1]).post(f"/api/v1/accounts/{people[0]}/follow")
    drain_all()
    first = post_limited(ann, people[0], "followers")
    sent = {"status": "answer", "in_reply_to_id": first}
    reply = Caller(people[1]).post(STATUSES, sent).json()["id"]
    drain_all()
    page = cyd.read(f"/statuses/{reply}")
    assert "Only followers of @" in page and FORM not in page
    assert FORM in ann.read(f"/statuses/{reply}")


def test_an_open_post_says_nothing(people: list[int]) -> None:
    page = Browser(people[1]).read(f"/statuses/{publish(people[0], 'hello').public}")
    assert 'class="facts gate"' not in page and FORM in page


def test_an_edit_keeps_the_choice_and_can_change_it(people: list[int]) -> None:
    ann = Browser(people[0])
    post_id = post_limited(ann, people[0], "following")
    form = ann.read(f"/statuses/{post_id}/edit")
    assert 'value="following" selected' in form and 'name="with_limits" checked' in form
    sent = {"status": "edited", "edited": post_id, "reply_approval_policy": "public"}
    assert ann.send(f"/statuses/{post_id}/edit", sent).status_code == 303
    seen = Caller(people[1]).get(f"{STATUSES}/{post_id}").json()
    assert seen["reply_approval"]["automatic"] == ["public"]
    assert 'name="with_limits" checked' not in ann.read(f"/statuses/{post_id}/edit")


def test_a_repost_leads_to_its_original_which_has_the_form(people: list[int]) -> None:
    ann, bob = Browser(people[0]), Browser(people[1])
    original = publish(people[0], "hello").public
    repost = Caller(people[1]).post(f"{STATUSES}/{original}/reblog").json()["id"]
    for reader in (ann, bob):
        assert FORM in reader.read(f"/statuses/{original}")
        reader.read(f"/statuses/{repost}", status=302)
