"""Mutants of the product, drawn at random: what a group of tests catches that the others do not.

Before a group goes, `going` names it by a regular expression over test names:

    .venv/bin/python -m pytest -n 0 -p tests.drawn_mutants tests/integration/posts \\
        --going 'test_crashes|killed' --mutants 40 --mutants-seed 7

All tests run once, to see which functions each of them calls. A mutant changes one place of a
function that the group calls, in this process: the tests that stay run first, up to the first that
fails; then those of the group. Processes that tests start are not changed.
"""

import gc
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

import pytest

from tests.mutation import Mutant, draw_mutant, in_place_of

ROOT = Path(__file__).parents[1]
NOT_PRODUCT = {"tests", "lab", "client", "docs", "deploy"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--going", default="$^", help="names of the tests that would go")
    parser.addoption("--mutants", type=int, default=40, help="how many are drawn")
    parser.addoption("--mutants-seed", type=int, default=1, help="of what is drawn")


def is_of_product(code: CodeType) -> bool:
    if not code.co_filename.startswith(f"{ROOT}/") or "<" in code.co_qualname:
        return False
    top = code.co_filename.removeprefix(f"{ROOT}/").split("/")[0]
    return top not in NOT_PRODUCT and not top.startswith(".")


class _Trial:
    """The tests of a session: run once for what they call, then on mutants."""

    def __init__(self, session: pytest.Session) -> None:
        options = session.config.option
        self._config, self._chance = session.config, random.Random(options.mutants_seed)
        self._items, self._count = session.items, options.mutants
        self._going = re.compile(options.going)
        self._calls: dict[pytest.Item, set[CodeType]] = {}
        self._has_failed = False
        session.config.pluginmanager.register(self)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed

    def run(self) -> None:
        gc.unfreeze()  # what is frozen is not listed
        for item in self._items:
            if self._fails_traced(item):
                _say(f"left out, it fails: {item.nodeid}")
                del self._calls[item]
        goes = [item for item in self._calls if self._going.search(item.nodeid)]
        stays = [item for item in self._calls if item not in goes]
        _say(f"{len(goes)} tests would go, {len(stays)} stay")
        outcomes: Counter[str] = Counter()
        while outcomes.total() < self._count:
            code = self._chance.choice(self._codes_of(goes))
            if mutant := draw_mutant(code, self._chance):
                outcome = self._try(code, mutant, stays, goes)
                outcomes[outcome] += 1
                where = f"{code.co_filename}:{code.co_firstlineno}".removeprefix(f"{ROOT}/")
                _say(f"{outcome:10} {where} {code.co_qualname} {mutant.text}")
        _say(f"{dict(outcomes)}")

    def _codes_of(self, items: Sequence[pytest.Item]) -> list[CodeType]:
        codes = set().union(*(self._calls[item] for item in items))
        return sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno))

    def _fails_traced(self, item: pytest.Item) -> bool:
        called = self._calls[item] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code not in called and is_of_product(frame.f_code):
                called.add(frame.f_code)

        threading.setprofile(note)
        sys.setprofile(note)
        try:
            return self._fails(item)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _try(
        self,
        code: CodeType,
        mutant: Mutant,
        stays: Sequence[pytest.Item],
        goes: Sequence[pytest.Item],
    ) -> str:
        with in_place_of(code, mutant):
            for outcome, items in (("both", stays), ("only going", goes)):
                if any(code in self._calls[item] and self._fails(item) for item in items):
                    return outcome
        return "none"

    def _fails(self, item: pytest.Item) -> bool:
        self._has_failed = False
        # The next one says which fixtures may stay.
        following = next(other for other in self._neighbours(item) if other is not item)
        self._config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        return self._has_failed

    def _neighbours(self, item: pytest.Item) -> list[pytest.Item]:
        same = [other for other in self._items if other.parent is item.parent]
        return same[:2] + self._items[:2]


def _say(text: str) -> None:
    print(text, file=sys.__stderr__, flush=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    _Trial(session).run()
    return True
