"""The processes of a storm, and what they tell."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from django.conf import settings

from tests.other_process import environment_of_this_test
from tests.scenarios.background import threads
from tests.scenarios.storm_acts import WEIGHTS

REPORT_EVERY = 10_000


class Fleet:
    """What happened is in `seen`; what one did between its last word and its end is not counted."""

    def __init__(self, people: Sequence[int], operations: int, seed: int) -> None:
        self.seen: Counter[str] = Counter()
        self._people, self._operations, self._seed = people, operations, seed
        self._lock = threading.Lock()
        self._began_s = time.monotonic()

    def rage(self, processes: int) -> None:
        """Returns when so many acts are done, or a few more. Raises what went wrong."""
        with threads([partial(self._run, n) for n in range(processes)]):
            pass

    def acts(self) -> int:
        return sum(self.seen[name] for name in WEIGHTS)

    def _run(self, number: int) -> None:
        numbers = (self._seed + number, *self._people)
        with subprocess.Popen(
            [sys.executable, "-m", "tests.scenarios.storm_worker", *map(str, numbers)],
            env=environment_of_this_test() | {"LOG_LEVEL": "ERROR"},
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as worker:
            for line in worker.stdout:
                if self._add(json.loads(line)) >= self._operations:
                    break
            worker.stdin.close()
            worker.stdout.read()
        assert worker.returncode == 0, f"a process of the storm ended with {worker.returncode}"

    def _add(self, news: dict[str, int]) -> int:
        """All acts until now."""
        with self._lock:
            before = self.acts()
            self.seen.update(news)
            after = self.acts()
        if before // REPORT_EVERY != after // REPORT_EVERY:
            elapsed_s = time.monotonic() - self._began_s
            sys.stdout.write(f"{after:,} acts in {elapsed_s:,.0f} s: {dict(self.seen)}\n")
            sys.stdout.flush()
        return after
