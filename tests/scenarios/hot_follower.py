"""One of the processes whose accounts follow one account: STAR FIRST END on its command line.

Says `ready`, begins when told for how many seconds, and prints how many follows it did.
"""

import sys
import time
from itertools import takewhile

import django


def main() -> None:
    django.setup()
    from relations.actions.follow import follow  # noqa: PLC0415 - needs the settings

    star, first, end = map(int, sys.argv[1:])
    print("ready", flush=True)  # noqa: T201
    ends_s, done = float(sys.stdin.readline()) + time.monotonic(), 0
    for follower in takewhile(lambda _: time.monotonic() < ends_s, range(first, end)):
        follow(follower, star)
        done += 1
    print(done, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
