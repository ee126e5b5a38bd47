"""The page of a conversation."""

from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.queries.context import FOR_VIEWERS
from posts.types import Draft, Visibility
from tests.integration.pages.browsing import Browser
from tests.world import drain_all, make_account


def test_the_latest_messages_of_a_very_long_conversation_are_shown(world: None) -> None:
    ann, ben = make_account("ann"), make_account("ben")
    latest: PostId | None = None
    first: PostId | None = None
    for number in range(FOR_VIEWERS.depth + 5):
        text = f"@ann message {number}."
        draft = Draft(text, visibility=Visibility.DIRECT, in_reply_to=latest, thread=first)
        latest = create_post(ben, draft)
        first = first or latest
    drain_all()
    assert first is not None
    page = Browser(ann).read(f"/conversations/{first.public}")
    assert f"message {FOR_VIEWERS.depth + 4}." in page
    assert Browser(ann).read("/").count('id="unread-messages">1<') == 1


def test_a_form_with_a_made_up_message_before_it_is_sent(world: None) -> None:
    ann, ben = make_account("ann"), make_account("ben")
    first = create_post(ben, Draft("@ann psst", visibility=Visibility.DIRECT))
    drain_all()
    browser = Browser(ann)
    for before in ("", "1", "1 soon", "1 0001-01-01T00:00:00+14:00", "1 2026-01-01T00:00:00.000Z"):
        sent = {
            "status": "yes", "visibility": "direct", "talk": first.public, "names": "@ben",
            "in_reply_to_id": first.public, "place": "talk", "before": before,
        }  # fmt: skip
        assert 'class="day">Today<' in browser.act("/statuses", sent)
