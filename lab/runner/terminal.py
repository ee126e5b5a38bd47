"""The lines that `make run` prints: progress while it starts, then the start screen."""

import os
import shlex
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TICK_S = 2.0


def say(line: str) -> None:
    """Prints a line. A closed terminal is ignored, so that the servers still stop in order."""
    with suppress(OSError):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def clean_command() -> str:
    """The command that deletes the data of this run."""
    named = os.environ.get("DATA_DIR")
    return f"DATA_DIR={shlex.quote(named)} make clean" if named else "make clean"


@contextmanager
def step(what: str) -> Iterator[None]:
    """Prints `what`, and prints it again every two seconds with the time it has taken."""
    say(f"  {what}")
    done = threading.Event()
    ticker = threading.Thread(target=_tick, args=(what, done), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        done.set()
        ticker.join()


def _tick(what: str, done: threading.Event) -> None:
    began = time.monotonic()
    while not done.wait(TICK_S):
        say(f"  {what}: {time.monotonic() - began:.0f} s")


@dataclass(frozen=True)
class StartScreen:
    """`data`: the servers' data, None with external databases. `folder`: all other files.

    `operator`: the superuser with this password; None: there is another one.
    """

    port: int
    accounts: Sequence[str]
    password: str
    token: str
    operator: str | None
    folder: Path
    data: Path | None

    def text(self) -> str:
        address = f"http://localhost:{self.port}"
        operator = f"{self.operator}, the same password," if self.operator else "your superuser"
        manage = shlex.quote(str(self.folder / "manage"))
        data = self.data or "in the databases that the environment names"
        deletes = f"; `{clean_command()}` deletes it" if self.data else ""
        return f"""
Tideline is running at {address}

  Accounts  {", ".join(self.accounts)}
  Password  {self.password}
  Operator  {operator} at {address}/admin/
  Docs      {address}/api/docs
  Data      {data}
  Logs      {self.folder}/logs
  Commands  {manage} help
  Products  {manage} tenants create shop --host shop.localhost
  Stop      Ctrl-C. The next `make run` continues with the same data{deletes}.

The home timeline of {self.accounts[0]}, ready to paste:

  export TOKEN={self.token}
  curl -H "Authorization: Bearer $TOKEN" {address}/api/v1/timelines/home
"""
