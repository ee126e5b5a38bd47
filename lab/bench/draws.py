"""Seeded draws of accounts and of kinds of requests."""

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

Drawn = TypeVar("Drawn")


class Weighted(Generic[Drawn]):
    """Draws values in proportion to their weights."""

    def __init__(
        self, values: Sequence[Drawn], weights: Iterable[float], dice: random.Random
    ) -> None:
        self._values = values
        self._weights = [*itertools.accumulate(weights)]
        self._dice = dice

    def draw(self) -> Drawn:
        return self.draw_many(1)[0]

    def draw_many(self, count: int) -> list[Drawn]:
        """`count` draws, some of which may be equal."""
        return self._dice.choices(self._values, cum_weights=self._weights, k=count)


class Zipf(Weighted[int]):
    """Draws accounts. Their order is random; the nth has a weight of n ** -shape."""

    def __init__(self, ids: Sequence[int], shape: float, dice: random.Random) -> None:
        weights = (n**-shape for n in range(1, len(ids) + 1))
        super().__init__(dice.sample(ids, len(ids)), weights, dice)
