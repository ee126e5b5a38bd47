"""Ordinary pages of clients that also poll: the next poll begins where such a page ended.

Without this, a client whose cursor is from an ordinary page would take over the record of another
client with the same token and the same cursor, and miss a late post that only the other one got.
"""

from collections.abc import Sequence

from infra.api.pages import Page
from infra.caching.client import Command
from infra.caching.questions import Question, answer
from posts.fragments.read import post_id_of
from timelines.polling.records import EnteredCursor, Poller, save_records
from timelines.polling.types import PollRecord
from timelines.recent.queries.late_rows import MARGIN_MS, SKEW_MS


def ask_has_polled(poller: Poller | None) -> Question[bool]:
    """Whether a client with this token has polled this timeline within two days."""
    is_known = poller is not None and poller.client is not None
    commands: Sequence[Command] = [("EXISTS", poller.key)] if poller and is_known else []
    return Question(commands, lambda replies: bool(replies and replies[0]))


def enter_if_polled(poller: Poller, page: Page[bytes], at_ms: int) -> None:
    """As `enter_by_page`, if the client has polled. One round trip more."""
    if answer(ask_has_polled(poller)):
        enter_by_page(poller, page, at_ms)


def enter_by_page(poller: Poller, page: Page[bytes], at_ms: int) -> None:
    """Records that a client may poll from the newest entry of this page. One round trip.

    Call it only if the client `has_polled`. Without Redis the record is missing.
    """
    shown = list(map(post_id_of, page.items))
    if shown:
        seen_ms = at_ms - SKEW_MS - MARGIN_MS
        record = PollRecord(1, seen_ms, seen_ms, served=tuple(shown), known=seen_ms)
        save_records(poller, [EnteredCursor(max(shown), record)])
