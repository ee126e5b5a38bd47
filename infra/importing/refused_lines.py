"""The file of refused lines: the number, the reason and the text of each, as JSON lines."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from infra.importing.job import Report
from infra.importing.lines import ImportLine


@contextmanager
def refused_file(path: Path | None) -> Iterator[Report]:
    """Appends each refused line to the file, at once: a killed run loses none that it printed.

    None: no file. Raises: OSError.
    """
    if path is None:
        yield lambda line, reason: None
        return
    with path.open("ab", buffering=0) as file:

        def report(line: ImportLine, reason: str) -> None:
            text = line.text.decode(errors="replace").rstrip("\n")
            file.write(orjson.dumps({"line": line.number, "reason": reason, "text": text}) + b"\n")

        yield report
