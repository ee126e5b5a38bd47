"""What an oracle needs to know of the end: the answers of a quiet service."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lab.faults.history.calls import Seen
from lab.faults.history.promises import Pair


class QuietState(Protocol):
    """By account id. Lists are complete, in the order of their pages.

    `relationships`: the flags of (viewer, other). `statuses`: the account's own timeline as it sees
    it itself.
    """

    @property
    def homes(self) -> Mapping[int, Sequence[Seen]]: ...
    @property
    def statuses(self) -> Mapping[int, Sequence[Seen]]: ...
    @property
    def followers(self) -> Mapping[int, Sequence[int]]: ...
    @property
    def following(self) -> Mapping[int, Sequence[int]]: ...
    @property
    def counts(self) -> Mapping[int, Mapping[str, int]]: ...
    @property
    def relationships(self) -> Mapping[Pair, Mapping[str, int]]: ...
