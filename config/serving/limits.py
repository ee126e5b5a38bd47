"""What one web process takes on at most."""

from typing import NamedTuple


class Limits(NamedTuple):
    """`wait_s`: in the queue. `body_s`: for the body of a request to arrive."""

    threads: int
    wait_s: float
    body_s: float
