"""A browser, driven by Playwright on a thread of its own.

Django refuses to ask databases on a thread that runs an event loop, as Playwright's own calls
without `await` have it do.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from playwright.async_api import Browser, async_playwright

from tests.browser.chromium import Chromium
from tests.waiting import PATIENCE_S

Do = Callable[[Coroutine[Any, Any, Any]], Any]


class Driven(NamedTuple):
    """`do` runs what a call of Playwright's returns, and gives what comes of it."""

    browser: Browser
    do: Do


@contextmanager
def driven(chromium: Chromium, *flags: str) -> Iterator[Driven]:
    """Cost: 1.5 s."""
    with _loop() as do:
        playwright = do(async_playwright().start())
        try:
            # Without a sandbox, which root and many containers cannot have: it sees our pages only.
            browser = do(
                playwright.chromium.launch(
                    executable_path=chromium.program, args=flags, env=os.environ | chromium.more
                )
            )
            yield Driven(browser, do)
            do(browser.close())
        finally:
            do(playwright.stop())


@contextmanager
def _loop() -> Iterator[Do]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="browser", daemon=True)
    thread.start()

    def do(call: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(call, loop).result(PATIENCE_S)

    try:
        yield do
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
