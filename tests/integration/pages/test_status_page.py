"""One post on a page, and what people do with it there."""

import re

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
