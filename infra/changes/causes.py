"""The ids of the requests that caused a change, stored in the JSON of its payload.

{"followee_id": 44, …, "@requests": ["6f1c09a2b4d1-2e"]}

They need no column and are copied to follow-up changes and replays. Code that does not know them
ignores them. A change of a command has none.
"""

from collections.abc import Sequence

import msgspec

from infra.telemetry.request_ids import MOST_NAMED


class _Causes(msgspec.Struct):
    requests: list[str] = msgspec.field(name="@requests", default_factory=list)


_decoder = msgspec.json.Decoder(_Causes)


def with_causes(body: bytes, requests: Sequence[str]) -> str:
    """The JSON of a payload with the first MOST_NAMED of these request ids."""
    if not requests:
        return body.decode()
    named = msgspec.json.encode({"@requests": requests[:MOST_NAMED]})
    return (named if body == b"{}" else body[:-1] + b"," + named[1:]).decode()


def read_causes(body: str) -> list[str]:
    """The request ids in the JSON of a payload. Raises: msgspec.MsgspecError."""
    return _decoder.decode(body).requests
