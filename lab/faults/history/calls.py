"""One call of a client and its JSON line. The load writes these lines, the checker reads them.

The contract of a recorder:

- All times are seconds of one clock of the harness (`time.monotonic`), so they compare.
- "ok": a 2xx answer was read to its end. "failed": the answer proves that nothing happened (4xx).
  "unknown": everything else, so each 5xx, time-out and broken connection. A write of unknown
  outcome may take effect once, at any time from its begin on.
- A client is one session with one cursor: its calls do not overlap. Several clients may use one
  account.
- Ids are numbers. A repost has an id of its own, as every entry of a timeline.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

Outcome = Literal["ok", "failed", "unknown"]
Kind = Literal[
    "post", "direct", "delete", "repost", "unrepost",
    "follow", "unfollow", "block", "unblock", "mute", "unmute",
    "home", "poll", "relationship", "counts",
]  # fmt: skip


class Seen(NamedTuple):
    """An entry of a page. `entry` is its own id and the cursor, `post` what it shows: the same,
    unless it is a repost. `author` wrote the post.
    """

    entry: int
    post: int
    author: int
    reposter: int | None = None


@dataclass(frozen=True, slots=True)
class ClientCall:
    """What a client sent and was answered.

    Shape: `target` is a post for delete, repost and unrepost, the parent for a reply ("post",
    "direct"), and an account for the calls on accounts. A "direct" post is in no timeline. `made`
    is the id that a post or repost was answered with. `key` is the Idempotency-Key: calls of
    an account with the same key have one effect.

    A "home" page may have `max_id`; `seen` is in the order of the page. A "poll" has `min_id`, the
    highest id that the client had seen. `is_last`: there is no next page, so nothing follows.

    `facts` are the flags of a relationship (`following`, `followed_by`, `blocking`, `blocked_by`,
    `muting`) or the counts of an account (`followers`, `following`, `posts`).
    """

    client: int
    account: int
    kind: Kind
    began_s: float
    ended_s: float
    outcome: Outcome
    status: int = 0
    target: int | None = None
    made: int | None = None
    key: str = ""
    max_id: int | None = None
    min_id: int | None = None
    is_last: bool = False
    seen: tuple[Seen, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)

    @property
    def is_read(self) -> bool:
        return self.kind in ("home", "poll", "relationship", "counts")


def outcome_of(status: int) -> Outcome:
    """What a status proves. No answer is status 0."""
    if 200 <= status < 300:
        return "ok"
    return "failed" if 400 <= status < 500 else "unknown"


def to_line(call: ClientCall) -> str:
    """One line of JSON, without the fields that have their default."""
    defaults = {"status": 0, "key": "", "is_last": False, "seen": (), "facts": {}}
    fields = asdict(call).items()
    kept = {name: value for name, value in fields if value not in (None, defaults.get(name))}
    return json.dumps(kept | {"began_s": call.began_s, "ended_s": call.ended_s})


def from_line(line: str) -> ClientCall:
    """The call of a line that `to_line` wrote. Raises: `ValueError`, `TypeError` for others."""
    fields: dict[str, Any] = json.loads(line)
    fields["seen"] = tuple(Seen(*entry) for entry in fields.get("seen", ()))
    return ClientCall(**fields)


def write_calls(path: Path, calls: Iterable[ClientCall]) -> None:
    """Adds the calls to the file."""
    with path.open("a") as lines:
        lines.writelines(f"{to_line(call)}\n" for call in calls)


def read_calls(path: Path) -> Iterator[ClientCall]:
    """The calls of a file, in its order. An incomplete last line is left out: its writer died."""
    with path.open() as lines:
        for line in lines:
            if line.endswith("\n"):
                yield from_line(line)
