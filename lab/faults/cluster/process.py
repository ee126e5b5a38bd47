"""One process of Tideline that the harness starts, kills, hangs and starts again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGTERM
from typing import Any

from lab.faults.cluster.versions import command_of, environment_of
from lab.faults.cluster.with_failpoints import VARIABLE
from lab.runner.child import CHECKOUT, Child

Armed = Mapping[str, Mapping[str, Any]]


class ArmedChild(Child):
    """`program`: arguments of Python. Its output is in `log`, over all its starts. `checkout`: the
    code that its next start runs.
    """

    stop_s = 40.0

    def __init__(
        self,
        name: str,
        program: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        checkout: Path = CHECKOUT,
    ) -> None:
        super().__init__(name, program, log, environment, SIGTERM)
        self.checkout = checkout

    def begin(
        self, armed: Armed | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Starts it and returns at once; `armed` and `environment` hold for this start only."""
        here = environment_of({**self._environment, **(environment or {})})
        own = {**here, VARIABLE: json.dumps(armed or {})}
        self._begin(command_of(self.checkout, self._argv), own, self.checkout)
