"""The one screen `make run` ends with. Pure text; how it looks is tested, not run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class StartScreen:
    """`data` is where the servers keep theirs, `folder` what belongs to this installation."""

    port: int
    accounts: Sequence[str]
    password: str
    token: str
    folder: Path
    data: Path | None

    def text(self) -> str:
        address = f"http://localhost:{self.port}"
        data = self.data or "in the databases that the environment names"
        return f"""
Tideline is running at {address}

  Accounts  {", ".join(self.accounts)}
  Password  {self.password}
  Docs      {address}/api/docs
  Data      {data}
  Logs      {self.folder}/logs
  Commands  . {self.folder}/environment && .venv/bin/python manage.py help
  Stop      Ctrl-C. The next `make run` goes on with the same data, `make clean` deletes it.

The home timeline of {self.accounts[0]}, ready to paste:

  curl -H 'Authorization: Bearer {self.token}' {address}/api/v1/timelines/home
"""
