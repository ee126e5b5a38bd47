"""The place of a poll in the fragment of its post: the post's id, and the texts of its options.

A poll changes with each vote, so a fragment has no poll. The answer gets it (live_polls.py). The
options do not change with votes, and filters search them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_MARK, _BETWEEN = "\ue000", "\n"
# Text that people write has no unescaped quotes, so it cannot look like this.
PLACE = re.compile(rb'(?<="poll":)"%b(\d+)(?:[^"\\]|\\.)*"' % _MARK.encode())
# One byte, because searching a page for one byte costs a twentieth of searching it for two.
FIRST_BYTE = _MARK.encode()[:1]


def place_of(post_id: str, poll: Mapping[str, Any]) -> str:
    """The text in a fragment. `post_id`: public."""
    return _MARK + _BETWEEN.join((post_id, *poll["options"]))


def options_at(place: str | None) -> Sequence[str]:
    """The options of the poll with this place; none for a post without a poll."""
    return place.split(_BETWEEN)[1:] if place else ()
