"""Puts polls into answers. A fragment has only the place of its poll (poll_place.py).

So a vote changes no fragment and no remembered page, and pages without polls pay nothing.
"""

import time

import orjson

from posts.api.poll_place import PLACE
from posts.ids import PostId
from posts.queries.polls import load_polls


def fill_polls(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with its polls; the same bytes without any. Cost: as `load_polls`."""
    ids = {text: PostId.from_public(text.decode()) for text in PLACE.findall(body)}
    if not ids:
        return body
    polls = load_polls(list(ids.values()), viewer_id, time.time())
    texts = {text: orjson.dumps(polls.get(post_id)) for text, post_id in ids.items()}
    return PLACE.sub(lambda match: texts[match[1]], body)
