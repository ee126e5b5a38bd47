"""What one web process takes on at most."""

from typing import NamedTuple


class Limits(NamedTuple):
    """`wait_s`: in the queue. `body_s`: for a body to arrive; `upload_s`: for one with images."""

    threads: int
    wait_s: float
    body_s: float
    upload_s: float
