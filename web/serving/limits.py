"""The limits of one web process."""

from typing import NamedTuple

# Of the line and the headers of a request. Granian refuses most of what is longer; it reads in
# pieces, so it serves some.
MOST_HEAD_BYTES = 64 * 1024


class Limits(NamedTuple):
    """`wait_s`: how long a request may wait in a queue. `body_s`: how long its body may take.

    `upload_s`: the same as `body_s`, for a body with images.
    """

    threads: int
    wait_s: float
    body_s: float
    upload_s: float
