"""Viewer states as values and as bytes: which posts an account marked, and its filters.

payload   bytes 0-3   floor: the state is complete for posts from this second on
          bytes 4-7   the length of the filters
          …           the filters: a list as JSON; nothing for an account without filters
          11 bytes    for each post: its packed id and its flags, the sum of 1 << kind
          11 bytes    after a post with declared reactions, which is flagged MORE: the higher flags

Reactions are rare, so the flags of other posts have one byte.
"""

from collections.abc import Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

from counters.kinds import DECLARED
from posts.filters.matching import NO_FILTERS, FilterSet
from posts.fragments.present import MUTED, Flags
from posts.ids import PostId
from posts.types import Kind

HEAD = Struct(">II")
RECORD = Struct(">IIHB")
_BITS_AT = RECORD.size - 1
MORE = 1 << 7  # no mark has this number
_HIGHER = Struct(">I")
_UNMUTED = bytes(bits for bits in range(256) if not bits & MUTED)


class PackedFlags(Mapping[PostId, int]):
    """Flags as they are stored. A page looks at a few of them, so none is decoded before its use:
    that would take longer than the rest of the page."""

    __slots__ = ("_records",)

    def __init__(self, records: bytes) -> None:
        self._records = records

    @property
    def have_muted(self) -> bool:
        """Whether a thread is muted. Cost: about a microsecond."""
        return bool(self._records[_BITS_AT :: RECORD.size].translate(None, _UNMUTED))

    def __getitem__(self, post_id: PostId) -> int:
        at = self._find(post_id)
        if at < 0:
            raise KeyError(post_id)
        return self._bits_at(at)

    def get(self, post_id: PostId, default: Any = None) -> Any:
        """Without the error of `__getitem__`: most posts have no flags."""
        at = self._find(post_id)
        return default if at < 0 else self._bits_at(at)

    def _bits_at(self, at: int) -> int:
        bits = self._records[at + _BITS_AT]
        if not bits & MORE:
            return bits
        (higher,) = _HIGHER.unpack_from(self._records, at + RECORD.size)
        return int(bits - MORE | higher << DECLARED.start)

    def _find(self, post_id: PostId) -> int:
        """Where the record of the post begins; -1 if there is none."""
        packed = post_id.packed
        at = self._records.find(packed)
        while at > 0 and at % RECORD.size:
            at = self._records.find(packed, at + 1)
        return at

    def __iter__(self) -> Iterator[PostId]:
        """Higher flags have the place of a post by account 0."""
        return (PostId(*record[:3]) for record in RECORD.iter_unpack(self._records) if record[1])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._records)


class ViewerState(NamedTuple):
    """The viewer state of an account, complete for posts from the second `floor` on.

    `muted`: the public ids of all muted threads. `filters`: those that hold at the time of the
    request.
    """

    floor: int
    flags: Flags
    muted: frozenset[bytes] = frozenset()
    filters: FilterSet = NO_FILTERS


NO_STATE = ViewerState(0, {})


def build_viewer_state(rows: Sequence[tuple[PostId, int]], most: int) -> ViewerState:
    """The state from the newest `most` + 1 rows of the tables of reposts and of viewer marks.

    A table with more than `most` rows is cut off. The floor is the higher of the two cuts. Muted
    threads are never cut off.
    """
    reposted = [post_id for post_id, kind in rows if kind == Kind.REPOST]
    apart = (Kind.REPOST, Kind.THREAD_MUTE)
    marked = [post_id for post_id, kind in rows if kind not in apart]
    cut = [min(ids).second + 1 for ids in (reposted, marked) if len(ids) > most]
    floor = max(cut, default=0)
    flags: dict[PostId, int] = {}
    for post_id, kind in rows:
        if post_id.second >= floor or kind == Kind.THREAD_MUTE:
            add_flag(flags, post_id, kind)
    return ViewerState(floor, flags)


def _state_of(floor: int, flags: PackedFlags) -> ViewerState:
    if not flags.have_muted:
        return ViewerState(floor, flags)
    muted = frozenset(i.public.encode() for i, bits in flags.items() if bits & MUTED)
    return ViewerState(floor, flags, muted)


def pack(state: ViewerState, filters: bytes = b"") -> bytes:
    """`filters`: as FilterSet.decode reads them, or empty."""
    records = [
        RECORD.pack(*post_id, flags) if flags < MORE else _pack_more(post_id, flags)
        for post_id, flags in state.flags.items()
    ]
    return b"".join((HEAD.pack(state.floor, len(filters)), filters, *records))


def _pack_more(post_id: PostId, flags: int) -> bytes:
    higher, lower = divmod(flags, 1 << DECLARED.start)
    return RECORD.pack(*post_id, lower | MORE) + RECORD.pack(higher, 0, 0, 0)


def unpack(payload: bytes) -> ViewerState:
    floor, filters_bytes = HEAD.unpack_from(payload)
    records_at = HEAD.size + filters_bytes
    records = payload[records_at:]
    state = _state_of(floor, PackedFlags(records)) if records else ViewerState(floor, {})
    if not filters_bytes:
        return state
    return state._replace(filters=FilterSet.decode(payload[HEAD.size : records_at]))


def is_packed(payload: bytes) -> bool:
    _, filters_bytes = HEAD.unpack_from(payload)
    return (len(payload) - HEAD.size - filters_bytes) % RECORD.size == 0


def add_flag(flags: dict[PostId, int], post_id: PostId, kind: int) -> None:
    flags[post_id] = flags.get(post_id, 0) | 1 << kind
