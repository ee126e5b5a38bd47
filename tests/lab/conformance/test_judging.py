"""Which tests of clients count, and what is written about them."""

import http.client
import json
from pathlib import Path

import pytest

from lab.conformance import judge
from lab.conformance.__main__ import SUITES
from lab.conformance.compiled_suites import MEGALODON_RS
from lab.conformance.empty_server import empty_server
from lab.conformance.instance import ClientTarget
from lab.conformance.judge import ReasonList
from lab.conformance.own_programs import read_lines
from lab.conformance.pytest_suites import read_report
from lab.conformance.sources import ClientsMissing
from lab.conformance.types import ClientOutcome, ClientVerdict, Suite, SuiteResult

REASONS = ReasonList(
    {"test_polls::*": "no polls", "test_a::test_one": "one", "test_a::test_p[x]": "p"},
    blind=["test_a::test_blind"],
)
JUNIT = """<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_ok" time="1"/>
<testcase classname="tests.test_a" name="test_bad"><failure message="boom">long</failure></testcase>
<testcase classname="tests.test_a" name="test_gone"><skipped message="why"/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("name", "passed", "verdict"),
    [
        ("test_b::test_any", True, ClientVerdict.PASSED),
        ("test_b::test_any", False, ClientVerdict.FAILED),
        ("test_polls::test_vote", False, ClientVerdict.NOT_APPLICABLE),
        ("test_polls::test_by_chance", True, ClientVerdict.PASSED),
        ("test_a::test_one", False, ClientVerdict.NOT_APPLICABLE),
        ("test_a::test_one", True, ClientVerdict.SUPERFLUOUS),
        ("test_a::test_p[x]", False, ClientVerdict.NOT_APPLICABLE),
        ("test_a::test_blind", True, ClientVerdict.BLIND),
        ("test_a::test_blind", False, ClientVerdict.FAILED),
    ],
)
def test_a_test_counts_as_the_list_says(name: str, passed: bool, verdict: ClientVerdict) -> None:
    assert REASONS.judge(ClientOutcome(name, passed, "boom")).verdict is verdict


@pytest.mark.parametrize(
    ("passed", "holds"), [({"test_b::x"}, True), (set(), False), ({"test_a::test_one"}, False)]
)
def test_a_failure_or_a_stale_reason_fails_the_suite(passed: set[str], holds: bool) -> None:
    outcomes = [ClientOutcome(name, name in passed) for name in ("test_b::x", "test_a::test_one")]
    result = SuiteResult("toot", "toot 1", [REASONS.judge(one) for one in outcomes])
    assert result.holds is holds


def test_a_report_of_pytest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(JUNIT)
    assert list(read_report(path)) == [
        ClientOutcome("test_a::test_ok", True, ""),
        ClientOutcome("test_a::test_bad", False, "boom"),
        ClientOutcome("test_a::test_gone", False, "why"),
    ]


def test_lines_of_a_script_are_read() -> None:
    lines = '{"name":"post","passed":true}\n{"name":"pin","passed":false,"text":"no"}\n'
    assert list(read_lines(lines)) == [
        ClientOutcome("post", True),
        ClientOutcome("pin", False, "no"),
    ]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_every_client_has_a_locked_version(suite: Suite) -> None:
    name, version = suite.client.split()
    assert name.replace("-", "_") == suite.name
    assert version[0].isdigit()


def test_the_empty_server_answers_everything_alike() -> None:
    with empty_server() as target:
        connection = http.client.HTTPConnection(target.host)
        for method in ("GET", "POST", "DELETE"):
            connection.request(method, "/api/v1/anything", body=b"{}")
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (200, {})
        connection.close()


def test_every_reason_is_of_a_suite_that_exists() -> None:
    assert set(judge._entries()) <= {suite.name for suite in SUITES}


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClientsMissing, match=r"There is no cargo .* install Rust 1.85 or newer"):
        MEGALODON_RS.run(ClientTarget("http://localhost:1", {}))
