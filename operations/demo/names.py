"""Made-up names for the nodes of a graph, the same on every run.

username      three syllables, the node's id, _, the graph's name: saremi2358_nostr
display name  the same syllables and three more: Saremi Tolune
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from operations.demo.errors import GraphNameInvalid
from operations.demo.texts import made_up_note

# A username has at most 30 characters: 6 of syllables, 12 of the id (MAX_NODE), _ and this name.
NAME_LENGTH = 8
SYLLABLES = "lamirovenatolisaredusomokaelanortineluparibenovi"


class Person(NamedTuple):
    username: str
    display_name: str
    note: str


class Naming(NamedTuple):
    """Names the accounts of one graph. `chosen`: usernames of some nodes, chosen by hand."""

    graph: str
    suffix: str
    chosen: Mapping[int, str]

    def person(self, node: int) -> Person:
        first, last = (_syllables(f"{self.graph}:{node}:{part}") for part in "ab")
        note = f"Account {node} of the graph {self.graph}. The name is made up."
        if self.chosen:
            note = made_up_note(f"{self.graph}:{node}")
        if node in self.chosen:
            return Person(self.chosen[node], self.chosen[node].capitalize(), note)
        display_name = f"{first} {last}".title()
        return Person(f"{first}{node}{self.suffix}", display_name, note)


def naming_of(graph: str) -> Naming:
    """Every username ends in the node and the graph's name, so several graphs can be loaded."""
    if not re.fullmatch(rf"[a-z0-9]{{1,{NAME_LENGTH}}}", graph):
        raise GraphNameInvalid(
            f"--name {graph!r}: a graph's name is 1 to {NAME_LENGTH} small letters and digits"
        )
    return Naming(graph, f"_{graph}", {})


def name_of_file(path: Path) -> str:
    """The default name of a graph: the beginning of its file's name."""
    match = re.search(r"[a-z0-9]+", path.name.lower())
    return match[0][:NAME_LENGTH] if match else "graph"


def _syllables(seed: str) -> str:
    number, count = crc32(seed.encode()), len(SYLLABLES) // 2
    indexes = (number % count, number // count % count, number // count**2 % count)
    return "".join(SYLLABLES[2 * index : 2 * index + 2] for index in indexes)
