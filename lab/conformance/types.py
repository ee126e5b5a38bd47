"""Values of the harness."""

from enum import StrEnum
from typing import NamedTuple, Protocol

from lab.conformance.instance import ClientTarget


class ClientOutcome(NamedTuple):
    """What happened in one test of a client. `text`: the error, or why it was skipped."""

    name: str
    passed: bool
    text: str = ""


class Suite(Protocol):
    """The tests of one client."""

    @property
    def name(self) -> str: ...
    @property
    def client(self) -> str:
        """The client with its version."""
        ...

    def run(self, target: ClientTarget) -> list[ClientOutcome]: ...


class ClientVerdict(StrEnum):
    """BLIND: it also passes against a server that answers `{}`, so it shows nothing."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    BLIND = "blind"
    SUPERFLUOUS = "applies after all"


class JudgedTest(NamedTuple):
    """A test with its verdict. `text`: the reason, or the error."""

    name: str
    verdict: ClientVerdict
    text: str


class SuiteResult(NamedTuple):
    suite: str
    client: str
    tests: list[JudgedTest]

    def list_of(self, verdict: ClientVerdict) -> list[JudgedTest]:
        return [test for test in self.tests if test.verdict is verdict]

    def count(self, verdict: ClientVerdict) -> int:
        return len(self.list_of(verdict))

    @property
    def holds(self) -> bool:
        return not (self.count(ClientVerdict.FAILED) or self.count(ClientVerdict.SUPERFLUOUS))
