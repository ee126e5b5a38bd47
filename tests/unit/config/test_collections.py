"""Full collections of the garbage collector: each would stop all requests of a web process."""

import os
import subprocess
import sys

# Objects that stay, as those of caches do.
CODE = """
import gc
from web.serving.worker import collect_all_rarely
gc.collect()
{call}
before = gc.get_stats()[2]["collections"]
kept = [[] for _ in range(500_000)]
print(gc.get_stats()[2]["collections"] - before)
"""


def test_caches_that_fill_cause_no_full_collection() -> None:
    assert _full_collections("collect_all_rarely()") == 0
    assert _full_collections("") > 0, "the test makes enough objects"


def _full_collections(call: str) -> int:
    environment = {**os.environ, "DEVELOPMENT": "1", "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", CODE.format(call=call)]
    return int(subprocess.check_output(command, env=environment))
