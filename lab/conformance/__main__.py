"""python -m lab.conformance [--only toot,masto] [--self-test] [--write]: runs the clients' tests.

`--self-test` runs them against a server that answers `{}`: no test that counts may pass.
`--write` keeps the results, which the docs show.
The exit code is 1 when a test fails that has no reason to, and 2 when a client is missing.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from lab.conformance.compiled_suites import GO_MASTODON, MEGALODON_RS
from lab.conformance.empty_server import empty_server
from lab.conformance.instance import ClientTarget, fresh_instance
from lab.conformance.judge import reasons_of
from lab.conformance.node_suites import MASTO, MEGALODON
from lab.conformance.pytest_suites import MASTODON_PY, TOOT
from lab.conformance.report import keep_results, text_of
from lab.conformance.sources import ClientsMissing
from lab.conformance.types import ClientOutcome, Suite, SuiteResult
from lab.run import StopRequested, stop_on_signals

SUITES: Sequence[Suite] = (TOOT, MASTODON_PY, MASTO, MEGALODON, GO_MASTODON, MEGALODON_RS)


def main() -> None:
    options = _options()
    try:
        with stop_on_signals():
            problems = _self_test(options) if options.self_test else _measure(options)
    except StopRequested:
        sys.exit("stopped")
    except ClientsMissing as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    if problems:
        sys.exit(f"not as it should be: {', '.join(problems)}")


def _measure(options: Namespace) -> list[str]:
    """The suites that do not hold."""
    results = []
    for suite, outcomes in _run(options, fresh_instance()):
        reasons = reasons_of(suite.name)
        result = SuiteResult(
            suite.name, suite.client, [reasons.judge(outcome) for outcome in outcomes]
        )
        print(text_of(result), flush=True)
        results.append(result)
    if options.write:
        keep_results(results)
    return [result.suite for result in results if not result.holds]


def _self_test(options: Namespace) -> list[str]:
    """The tests that pass against an empty server and are counted."""
    seeing = []
    for suite, outcomes in _run(options, empty_server()):
        reasons = reasons_of(suite.name)
        passed = {
            outcome.name
            for outcome in outcomes
            if outcome.passed and not reasons.find(outcome.name)
        }
        print(f"{suite.name}: {len(passed)} of {len(outcomes)} pass, known: {len(reasons.blind)}")
        seeing += [f"{suite.name} {name}" for name in sorted(passed ^ reasons.blind)]
    return seeing


def _run(
    options: Namespace, server: AbstractContextManager[ClientTarget]
) -> Iterator[tuple[Suite, list[ClientOutcome]]]:
    wanted = {name for name in options.only.split(",") if name}
    if unknown := wanted - {suite.name for suite in SUITES}:
        sys.exit(f"no such suite: {', '.join(unknown)}")
    with server as target:
        for suite in SUITES:
            if not wanted or suite.name in wanted:
                yield suite, suite.run(target)


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m lab.conformance", description="Runs clients' tests.")
    parser.add_argument("--only", default="", help="suites, separated by commas: toot,masto")
    parser.add_argument("--self-test", action="store_true", help="against an empty server")
    parser.add_argument(
        "--write", action="store_true", help="keep the results, which the docs show"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
