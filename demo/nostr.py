"""The `nostr` format: the JSON that nostr-social-graph writes.

    {"followLists": [[3, [5, 9], 1752792945], …], "muteLists": …, "uniqueIds": [["<key>", 3], …]}

Each list is a follower, the followees, and when it was written. Only that numeric structure is
read: keys and mutes are passed over.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from demo.errors import GraphUnreadable
from demo.graph_file import MAX_NODE, open_graph

Node = Annotated[int, msgspec.Meta(ge=0, le=MAX_NODE)]


class FollowList(msgspec.Struct, array_like=True):
    """What follows in the array is passed over."""

    follower: Node
    followees: list[Node]


class Document(msgspec.Struct, rename="camel"):
    follow_lists: list[FollowList]


def iter_nostr(path: Path) -> Iterator[tuple[int, int]]:
    """(follower, followee) in the file's order. Raises GraphUnreadable.

    Cost: one JSON document cannot be read by parts: ten times its unpacked size in memory.
    """
    with open_graph(path) as file:
        content = file.read()
    try:
        document = msgspec.json.decode(content, type=Document)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise GraphUnreadable(path, str(error)) from error
    for follows in document.follow_lists:
        for followee in follows.followees:
            yield follows.follower, followee
