"""Which outcomes count: the list of tests that do not apply, and of those that show nothing."""

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from lab.conformance.types import ClientOutcome, ClientVerdict, JudgedTest

FILE = Path(__file__).with_name("not_applicable.toml")
_BLIND = "it passes against a server that answers {} to everything"


class ReasonList:
    """The tests of one suite with a reason. Names may be patterns: `test_polls::*`.

    `blind`: tests that also pass against an empty server.
    """

    def __init__(self, reasons: Mapping[str, str], blind: Iterable[str]) -> None:
        self.reasons, self.blind = reasons, frozenset(blind)

    def judge(self, outcome: ClientOutcome) -> JudgedTest:
        """A test that passes in spite of its own entry is SUPERFLUOUS: remove the entry.

        Patterns name whole features, of which a few tests may pass by chance.
        """
        reason = self.find(outcome.name)
        if outcome.passed and outcome.name in self.blind:
            return JudgedTest(outcome.name, ClientVerdict.BLIND, _BLIND)
        if outcome.passed:
            is_superfluous = outcome.name in self.reasons
            verdict = ClientVerdict.SUPERFLUOUS if is_superfluous else ClientVerdict.PASSED
            return JudgedTest(outcome.name, verdict, reason or "")
        if reason:
            return JudgedTest(outcome.name, ClientVerdict.NOT_APPLICABLE, reason)
        return JudgedTest(outcome.name, ClientVerdict.FAILED, outcome.text)

    def find(self, name: str) -> str | None:
        """The reason of this test, the exact name first."""
        patterns = (reason for key, reason in self.reasons.items() if fnmatchcase(name, key))
        return self.reasons.get(name) or next(patterns, None)


def reasons_of(suite: str) -> ReasonList:
    """What the repository says about a suite: nothing if it names none of its tests."""
    entry = _entries().get(suite, {})
    return ReasonList(entry.get("reasons", {}), entry.get("blind", []))


@cache
def _entries() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(FILE.read_text())
