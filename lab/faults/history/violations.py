"""What a checker found wrong."""

from typing import NamedTuple

from lab.faults.history.calls import ClientCall


class Violation(NamedTuple):
    """A rule that an answer broke. `call` is None if the state at the end broke it."""

    rule: str
    text: str
    call: ClientCall | None = None

    def __str__(self) -> str:
        if self.call is None:
            return f"{self.rule}: {self.text}"
        where = f"client {self.call.client}, {self.call.kind} of account {self.call.account}"
        return f"{self.rule}: {self.text} ({where}, {self.call.began_s:.3f} s)"
