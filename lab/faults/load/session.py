"""One client: it does one call after the other and records each."""

import random
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.faults.cluster.cluster import ClientAccount
from lab.faults.history.calls import ClientCall, Kind, Seen, outcome_of
from lab.faults.load.connection import Answer, ClientConnection

PAGE = 40
# Of polls by since_id: so small that clients have to go down.
SMALL_PAGE = 4


@dataclass
class SharedWorld:
    """What the clients know together. `posts`: (post id, author) of the latest posts."""

    people: Sequence[ClientAccount]
    posts: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=300))


class Session:
    """The calls of one client. `ways`: the parameters by which it polls. Safety: one thread."""

    def __init__(
        self,
        client: int,
        person: ClientAccount,
        world: SharedWorld,
        connection: ClientConnection,
        ways: Sequence[str] = ("min_id",),
    ) -> None:
        self.client = client
        self.person = person
        self.calls: list[ClientCall] = []
        self._world = world
        self._connection = connection
        self._ways = ways
        self._own: list[int] = []
        self._newest: int | None = None
        self._older_than: int | None = None

    def do(self, kind: str, rng: random.Random) -> ClientCall | None:
        """Draws the target and does the call. None when there is nothing to do it to."""
        return getattr(self, f"_{kind}")(rng)

    def relate(self, kind: Kind, account: int) -> ClientCall:
        """follow, unfollow, block, unblock, mute or unmute."""
        began_s = time.monotonic()
        answer = self._connection.post(f"/api/v1/accounts/{account}/{kind}")
        return self._record(kind, began_s, answer, target=account)

    def respond(self, kind: Kind, post: int) -> ClientCall:
        """repost or unrepost."""
        began_s = time.monotonic()
        word = {"repost": "reblog", "unrepost": "unreblog"}[kind]
        answer = self._connection.post(f"/api/v1/statuses/{post}/{word}")
        made = _id(answer) if kind == "repost" else None
        return self._record(kind, began_s, answer, target=post, made=made)

    def post(self, text: str, key: str = "") -> ClientCall:
        began_s = time.monotonic()
        answer = self._connection.post("/api/v1/statuses", {"status": text}, key)
        call = self._record("post", began_s, answer, made=_id(answer), key=key)
        if call.made is not None:
            self._own.append(call.made)
            self._world.posts.append((call.made, self.person.id))
        return call

    def write_to(
        self, other: ClientAccount, thread: int | None = None, key: str = ""
    ) -> ClientCall:
        """A direct post to one account."""
        began_s = time.monotonic()
        body = {"status": f"@{other.name} {began_s}", "visibility": "direct"}
        parent = {} if thread is None else {"in_reply_to_id": str(thread)}
        answer = self._connection.post("/api/v1/statuses", body | parent, key)
        return self._record("direct", began_s, answer, target=thread, made=_id(answer), key=key)

    def delete(self, post: int) -> ClientCall:
        began_s = time.monotonic()
        answer = self._connection.delete(f"/api/v1/statuses/{post}")
        return self._record("delete", began_s, answer, target=post)

    def home(self, max_id: int | None = None) -> ClientCall:
        query = {"limit": PAGE} | ({"max_id": max_id} if max_id is not None else {})
        began_s = time.monotonic()
        answer = self._connection.get("/api/v1/timelines/home", **query)
        seen = _entries(answer)
        is_last = answer.is_ok and answer.next_path is None
        call = self._record("home", began_s, answer, max_id=max_id, seen=seen, is_last=is_last)
        if seen:
            self._newest = max([self._newest or 0, *(entry.entry for entry in seen)])
            self._older_than = min(entry.entry for entry in seen)
        return call

    def upload(self, picture: bytes) -> int | None:
        """The id of the stored image; None without an answer that says it."""
        return _id(self._connection.upload("/api/v2/media", picture))

    def post_image(self, image: int) -> ClientCall:
        began_s = time.monotonic()
        body = {"status": "a picture", "media_ids": [str(image)]}
        answer = self._connection.post("/api/v1/statuses", body)
        return self._record("post", began_s, answer, made=_id(answer))

    def read(self, path: str) -> list[Any]:
        """All pages of a list that no checker of histories knows, until one has no answer."""
        answer = self._connection.get(path, limit=PAGE)
        statuses = list(answer.body) if answer.is_ok else []
        while answer.next_path and (answer := self._connection.get(answer.next_path)).is_ok:
            statuses += answer.body
        return statuses

    def poll(self) -> ClientCall:
        """Asks for what is newer than everything that this client has seen."""
        if self._newest is None:
            return self.home()
        min_id = self._newest
        began_s = time.monotonic()
        answer = self._connection.get("/api/v1/timelines/home", limit=PAGE, min_id=min_id)
        seen = _entries(answer)
        is_last = answer.is_ok and len(seen) < PAGE
        call = self._record("poll", began_s, answer, min_id=min_id, seen=seen, is_last=is_last)
        self._newest = max([min_id, *(entry.entry for entry in seen)])
        return call

    def poll_and_go_down(self) -> ClientCall:
        """As `poll`, by since_id. A full page is followed by what is between the two cursors.

        It has no room for late posts, so that only the next poll has everything.
        """
        if self._newest is None:
            return self.home()
        since_id = self._newest
        call = self._poll_down(since_id, SMALL_PAGE)
        if len(call.seen) == SMALL_PAGE:
            while (below := self._poll_down(since_id, PAGE, self._older_than)).seen:
                call = below
        return call

    def _poll_down(self, since_id: int, limit: int, max_id: int | None = None) -> ClientCall:
        query = {"limit": limit, "since_id": since_id}
        query |= {"max_id": max_id} if max_id is not None else {}
        began_s = time.monotonic()
        answer = self._connection.get("/api/v1/timelines/home", **query)
        seen = _entries(answer)
        is_last = answer.is_ok and len(seen) < limit and max_id is None
        call = self._record("poll", began_s, answer, min_id=since_id, seen=seen, is_last=is_last)
        if seen:
            self._newest = max(since_id, self._newest or 0, *(item.entry for item in seen))
            self._older_than = min(item.entry for item in seen)
        return call

    def _post(self, rng: random.Random) -> ClientCall:
        number = f"{self.client}-{len(self.calls)}-{rng.getrandbits(32)}"
        return self.post(f"post {number}", number if rng.random() < 0.5 else "")

    def _delete(self, rng: random.Random) -> ClientCall | None:
        if not self._own:
            return None
        return self.delete(self._own.pop(rng.randrange(len(self._own))))

    def _repost(self, rng: random.Random) -> ClientCall | None:
        return self._respond("repost", rng)

    def _unrepost(self, rng: random.Random) -> ClientCall | None:
        return self._respond("unrepost", rng)

    def _respond(self, kind: Kind, rng: random.Random) -> ClientCall | None:
        posts = list(self._world.posts)[-40:]
        return self.respond(kind, rng.choice(posts)[0]) if posts else None

    def _home(self, _: random.Random) -> ClientCall:
        return self.home()

    def _page(self, _: random.Random) -> ClientCall:
        return self.home(self._older_than)

    def _poll(self, rng: random.Random) -> ClientCall:
        return self.poll() if rng.choice(self._ways) == "min_id" else self.poll_and_go_down()

    def _follow(self, rng: random.Random) -> ClientCall:
        return self.relate("follow", self._another(rng))

    def _unfollow(self, rng: random.Random) -> ClientCall:
        return self.relate("unfollow", self._another(rng))

    def _block(self, rng: random.Random) -> ClientCall:
        return self.relate("block", self._another(rng))

    def _unblock(self, rng: random.Random) -> ClientCall:
        return self.relate("unblock", self._another(rng))

    def _mute(self, rng: random.Random) -> ClientCall:
        return self.relate("mute", self._another(rng))

    def _unmute(self, rng: random.Random) -> ClientCall:
        return self.relate("unmute", self._another(rng))

    def _relationship(self, rng: random.Random) -> ClientCall:
        other = self._another(rng)
        began_s = time.monotonic()
        answer = self._connection.get("/api/v1/accounts/relationships", **{"id[]": other})
        facts = relationship_of(answer.body[0]) if answer.is_ok else {}
        return self._record("relationship", began_s, answer, target=other, facts=facts)

    def _counts(self, rng: random.Random) -> ClientCall:
        other = self._another(rng)
        began_s = time.monotonic()
        answer = self._connection.get(f"/api/v1/accounts/{other}")
        facts = counts_of(answer.body) if answer.is_ok else {}
        return self._record("counts", began_s, answer, target=other, facts=facts)

    def _another(self, rng: random.Random) -> int:
        """Another account; neighbours more often, so that acts on one pair meet."""
        people = self._world.people
        own = self.client % len(people)
        step = min(int(rng.expovariate(0.25)) + 1, len(people) - 1)
        return people[(own + step) % len(people)].id

    def _record(self, kind: Kind, began_s: float, answer: Answer, **more: Any) -> ClientCall:
        call = ClientCall(
            client=self.client,
            account=self.person.id,
            kind=kind,
            began_s=began_s,
            ended_s=time.monotonic(),
            outcome=outcome_of(answer.status),
            status=answer.status,
            **more,
        )
        self.calls.append(call)
        return call


def entries_of(page: list[dict[str, Any]]) -> tuple[Seen, ...]:
    """The entries of a page of statuses, in its order."""
    return tuple(map(_seen, page))


def relationship_of(relationship: dict[str, Any]) -> dict[str, int]:
    names = ("following", "followed_by", "blocking", "blocked_by", "muting")
    return {name: int(relationship[name]) for name in names}


def counts_of(account: dict[str, Any]) -> dict[str, int]:
    return {
        "followers": int(account["followers_count"]),
        "following": int(account["following_count"]),
        "posts": int(account["statuses_count"]),
    }


def _id(answer: Answer) -> int | None:
    return int(answer.body["id"]) if answer.is_ok else None


def _entries(answer: Answer) -> tuple[Seen, ...]:
    return entries_of(answer.body) if answer.is_ok else ()


def _seen(entry: dict[str, Any]) -> Seen:
    number, account = int(entry["id"]), int(entry["account"]["id"])
    original = entry.get("reblog")
    if not original:
        return Seen(number, number, account)
    return Seen(number, int(original["id"]), int(original["account"]["id"]), account)
