"""The JSON of products inside our own: the field `custom` of posts and of objects.

    "custom":"<mark>{\\"minutes\\":40}"   sealed: its fields are not ours

Code that searches answers for a field cannot find one in it. It is opened when the answer is sent
(infra/api/live_parts.py).
"""

import re

import orjson

_MARK = "\U00080000"  # of a plane that has no characters
MARK_BYTE = _MARK.encode()[:1]
# It may be 4 kB of each post: it begins with bytes to search for, and never goes back.
_SEALED = re.compile(rb'"custom":"%b((?:[^"\\]++|\\.)*+)"' % _MARK.encode())


def seal(text: str) -> str:
    """The value of the field `custom` in a fragment. `text`: JSON."""
    return _MARK + text


def open_custom(body: bytes) -> bytes:
    """An answer with the JSON of products that it has sealed; the same bytes without any."""
    return _SEALED.sub(_open_one, body)


def _open_one(match: re.Match[bytes]) -> bytes:
    text: str = orjson.loads(b'"%b"' % match[1])
    return b'"custom":%b' % text.encode()
