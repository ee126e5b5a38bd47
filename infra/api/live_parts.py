"""Parts of answers that change too often for caches. They are put in when the answer is ready.

An app registers a byte that marks such a part, and a function that fills an answer; or a function
that changes any answer to its reader. A changed answer has no ETag: its tag was made before.

A sealed part is JSON that somebody sent, as a text: no code that searches answers takes its fields
for ours. It is opened last, and once. The tag is right: the sealed part was in the body.
"""

from collections.abc import Callable

from django.http import HttpResponse

from infra.api.rendering import JsonAnswer

# (body, the viewer's account or None) → the body with its parts
Fill = Callable[[bytes, int | None], bytes]
# By the value of the byte: a search for a number is faster than one for a text.
_fills: dict[int, Fill] = {}
_overlays: list[Fill] = []
Open = Callable[[bytes], bytes]
_sealed: dict[int, Open] = {}


def register_live_part(mark: bytes, fill: Fill) -> None:
    """Calls `fill` for each answer that has the byte `mark`. The byte may be there by chance.

    In the order of registration: a part may contain parts that are filled later.
    """
    _fills[ord(mark)] = fill


def register_overlay(overlay: Fill) -> None:
    """Calls `overlay` for each answer to an account, after all parts are filled."""
    _overlays.append(overlay)


def register_sealed_part(mark: bytes, open_parts: Open) -> None:
    """Calls `open_parts` for each answer that has the byte `mark`, at the very end."""
    _sealed[ord(mark)] = open_parts


def fill_body(body: bytes, viewer_id: int | None) -> bytes:
    """A text of JSON with its marked parts, for what is sent without an endpoint."""
    return _open(fill_unopened(body, viewer_id))


def fill_unopened(body: bytes, viewer_id: int | None) -> bytes:
    """As `fill_body`, for an endpoint that changes the text before it is sent."""
    for mark, fill in _fills.items():
        if mark in body:
            body = fill(body, viewer_id)
    return body


def _open(body: bytes) -> bytes:
    for mark, open_parts in _sealed.items():
        if mark in body:
            body = open_parts(body)
    return body


def fill_live_parts(answer: HttpResponse, viewer_id: int | None) -> None:
    """Puts all live parts into a JSON answer. Cost: half a microsecond for a page without any."""
    if not isinstance(answer, JsonAnswer):
        return
    body = answer.content
    filled = fill_unopened(body, viewer_id)
    if viewer_id is not None:
        for overlay in _overlays:
            filled = overlay(filled, viewer_id)
    if filled is not body:
        del answer["ETag"]
    sent = _open(filled)
    if sent is not body:
        answer.content = sent
        answer["Content-Length"] = str(len(sent))
