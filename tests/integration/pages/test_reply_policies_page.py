"""Who may reply, on the pages: chosen in the form of a post, said next to the post, obeyed."""

import pytest

from tests.callers import Caller
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, publish

STATUSES = "/api/v1/statuses"
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
