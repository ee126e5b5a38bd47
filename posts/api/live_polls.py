"""Puts polls into answers. A fragment has only the place of its poll (posts.api.present.LIVE_POLL).

So a vote changes no fragment and no finished entity, and pages without polls pay nothing.
"""

import re
import time

import orjson

from posts.api.present import LIVE_POLL
from posts.ids import PostId
from posts.queries.polls import load_polls

_MARK = LIVE_POLL.encode()
# Text that people write has no unescaped quotes, so it cannot look like this.
_PLACE = re.compile(rb'(?<="poll":)"%b(\d+)"' % _MARK)
# One byte, because searching a page for one byte costs a twentieth of searching it for two.
FIRST_BYTE = _MARK[:1]


def fill_polls(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with its polls; the same bytes without any. Cost: as `load_polls`."""
    ids = {text: PostId.from_public(text.decode()) for text in _PLACE.findall(body)}
    if not ids:
        return body
    polls = load_polls(list(ids.values()), viewer_id, time.time())
    texts = {text: orjson.dumps(polls.get(post_id)) for text, post_id in ids.items()}
    return _PLACE.sub(lambda found: texts[found[1]], body)
