"""A process of the storm: `python -m tests.scenarios.storm_worker SEED ACCOUNT...`.

It forks the one that rages, kills it after some seconds (a real kill -9) and forks another, until
its standard input is closed. The one that rages prints what has happened, as JSON.
"""

import json
import os
import random
import select
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence

import django

ENDLESS = 10**9
TELL_EVERY_S = 0.5
WRITERS, DRAINERS = 4, 2
LIVES_S = (5.0, 40.0)


def main() -> None:
    django.setup()
    import tests.scenarios.storm  # noqa: F401, PLC0415 - imported once, for all that are forked

    seed, *people = map(int, sys.argv[1:])
    rng, is_over = random.Random(seed), False
    while not is_over:
        child = os.fork() or rage(people, rng.getrandbits(32))
        is_over = bool(select.select([sys.stdin], [], [], rng.uniform(*LIVES_S))[0])
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            sys.exit("what raged was not killed, but failed")


def rage(people: Sequence[int], seed: int) -> int:
    """Until it is killed."""
    from tests.scenarios.storm import Storm  # noqa: PLC0415 - needs the settings

    storm = Storm(people, seed)
    storm.seen["processes"] += 1
    threading.Thread(target=tell, args=(storm.seen,), daemon=True).start()
    try:
        storm.rage(ENDLESS, WRITERS, DRAINERS)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def tell(seen: Counter[str]) -> None:
    """Every TELL_EVERY_S, until the process is killed: what a kill takes along is never told."""
    told: Counter[str] = Counter()
    while True:
        time.sleep(TELL_EVERY_S)
        now = Counter(dict(seen))
        # Whole or not at all: a kill may come between a line and its end.
        os.write(sys.stdout.fileno(), f"{json.dumps(now - told)}\n".encode())
        told = now


if __name__ == "__main__":
    main()
