"""Made-up people: the name of a node of a graph, the same on every run, unlike anybody's.

username      three syllables, the node's id, _, the graph's name: saremi2358_nostr
display name  the same syllables, and three more: Saremi Tolune
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from demo.errors import GraphNameInvalid

# A username has 30 characters at most: 6 of syllables, 12 of the id (MAX_NODE), _ and this.
NAME_LENGTH = 8
SYLLABLES = "lamirovenatolisaredusomokaelanortineluparibenovi"


class Person(NamedTuple):
    username: str
    display_name: str
    note: str


class Naming(NamedTuple):
    """How the accounts of one graph are called. `chosen`: usernames of some nodes, by hand."""

    graph: str
    suffix: str
    chosen: Mapping[int, str]

    def person(self, node: int) -> Person:
        first, last = (_syllables(f"{self.graph}:{node}:{part}") for part in "ab")
        note = f"Account {node} of the graph {self.graph}. The name is made up."
        if node in self.chosen:
            return Person(self.chosen[node], self.chosen[node].capitalize(), note)
        display_name = f"{first} {last}".title()
        return Person(f"{first}{node}{self.suffix}", display_name, note)


def naming_of(graph: str) -> Naming:
    """Every username ends in the node and the graph's name, so graphs lie side by side."""
    if not re.fullmatch(rf"[a-z0-9]{{1,{NAME_LENGTH}}}", graph):
        raise GraphNameInvalid(
            f"--name {graph!r}: a graph's name is 1 to {NAME_LENGTH} small letters and digits"
        )
    return Naming(graph, f"_{graph}", {})


def name_of_file(path: Path) -> str:
    """What a graph is called unless somebody says otherwise: how its file's name begins."""
    found = re.search(r"[a-z0-9]+", path.name.lower())
    return found[0][:NAME_LENGTH] if found else "graph"


def _syllables(seed: str) -> str:
    number, count = crc32(seed.encode()), len(SYLLABLES) // 2
    places = (number % count, number // count % count, number // count**2 % count)
    return "".join(SYLLABLES[2 * place : 2 * place + 2] for place in places)
