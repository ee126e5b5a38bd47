"""What a soak keeps: the faults with their times, what was measured, and a plot of both."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lab.faults.evidence import FOLDER
from lab.faults.history.promises import Span
from lab.faults.plot import plot
from lab.faults.resources import ResourceSample


class SoakFault(NamedTuple):
    """Seconds since the begin of the soak."""

    name: str
    began_s: float
    ended_s: float


class SoakRecord:
    """`began_s`: of the monotonic clock, as in the histories of the clients."""

    def __init__(self, seed: int, began_s: float) -> None:
        self.seed = seed
        self.began_s = began_s
        self.faults: list[SoakFault] = []
        self.samples: Sequence[ResourceSample] = []

    def add_fault(self, name: str, span: Span) -> None:
        self.faults.append(
            SoakFault(name, span.began_s - self.began_s, span.ended_s - self.began_s)
        )

    def write(self, folder: Path = FOLDER) -> Path:
        """Writes the plot and the data. Returns the path of the plot."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"soak-{self.seed}.svg"
        spans = [Span(fault.began_s, fault.ended_s) for fault in self.faults]
        path.write_text(plot(self.samples, spans))
        data = {
            "seed": self.seed,
            "began_s": self.began_s,
            "faults": [fault._asdict() for fault in self.faults],
            "samples": [sample._asdict() for sample in self.samples],
        }
        path.with_suffix(".json").write_text(json.dumps(data) + "\n")
        return path
