"""The markers of accounts in Redis, for up to five minutes.

    timelines.markers:v1:{account}   version:fresh until:JSON of the markers

Each move deletes the entry after its commit. If a process dies in between, the markers may be the
old ones for TTL_S; it has not answered the move then. The version of an entry is the sum of the
markers' versions, which only grow.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from infra.caching.client import redis
from infra.caching.questions import Question, answer
from infra.caching.values import ValueCache, Versioned
from timelines.markers.rows import read_markers
from timelines.markers.types import MarkerState, Timeline

TTL_S = 300
_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(list[tuple[Timeline, MarkerState]]).decode


def _load(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    return {
        account_id: _versioned(read_markers(account_id, [*Timeline])) for account_id in account_ids
    }


def _versioned(markers: Mapping[Timeline, MarkerState]) -> Versioned:
    version = sum(marker.version for marker in markers.values())
    return Versioned(version, _encode([*markers.items()]) if markers else b"")


_markers = ValueCache("timelines.markers:v1", TTL_S, _load, check=_decode)


def load_markers(account_id: int, timelines: Collection[Timeline]) -> dict[Timeline, MarkerState]:
    """As `read_markers`. Cost: one round trip when warm."""
    stored = answer(ask_markers(account_id))
    return {timeline: stored[timeline] for timeline in timelines if timeline in stored}


def ask_markers(account_id: int) -> Question[dict[Timeline, MarkerState]]:
    """All markers of an account. Cost: one command when warm."""

    def decode(payloads: Mapping[int, bytes]) -> dict[Timeline, MarkerState]:
        payload = payloads.get(account_id)
        return dict(_decode(payload)) if payload else {}

    return _markers.ask_uncopied([account_id]).then(decode)


def end_markers_of(account_id: int) -> None:
    """Ends the entry. Call it after the commit. Without Redis: before its next use."""
    redis().send(_end, items=[account_id])


def _end(account_ids: Collection[int]) -> None:
    redis().run(_markers.drop_commands(account_ids))
