"""The documentation site, opened as files: it asks no other site for anything, and finds words."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page
from playwright.async_api import expect as expecting

from lab.runner.child import CHECKOUT
from tests.browser.driving import Driven

SITE = CHECKOUT / ".site"
# What a page loads by itself. Links to other sites are for readers.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*?\bsrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link\b(?![^>]*\brel=["']?(?:canonical|next|prev))[^>]*?\bhref=["']?(?:https?:)?//[^>]*>"""
    r"""|@import[^;]*//[^;]*;|url\(["']?(?:https?:)?//[^)]*\)"""
)


@pytest.fixture(scope="module")
def built() -> Path:
    subprocess.run([sys.executable, "docs/build.py"], cwd=CHECKOUT, capture_output=True, check=True)
    return SITE


@pytest.fixture
def page(browser: Driven) -> Iterator[Page]:
    context = browser.do(browser.browser.new_context())
    yield browser.do(context.new_page())
    browser.do(context.close())


def test_no_page_loads_anything_from_another_site(built: Path) -> None:
    files = [one for kind in ("*.html", "*.css", "*.svg") for one in built.rglob(kind)]
    assert len(files) > 80
    assert [(one.name, *found) for one in files if (found := LOADED.findall(one.read_text()))] == []


def test_the_pages_opened_as_files_ask_for_files_and_find_words(
    built: Path, browser: Driven, page: Page
) -> None:
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: faults.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    for name in ("index.html", "reference/api.html", "how-to/deploy.html"):
        browser.do(page.goto((built / name).as_uri()))
    browser.do(page.locator(".md-search__button").click())
    browser.do(page.keyboard.type("run_drainer"))
    found = page.get_by_role("option", name="run_drainer", exact=True)
    browser.do(expecting(found).to_be_visible())
    browser.do(found.click())
    browser.do(expecting(page).not_to_have_url((built / "how-to/deploy.html").as_uri()))
    browser.do(expecting(page.locator("article")).to_contain_text("run_drainer"))
    assert [url for url in asked if not url.startswith("file://")] == []
    assert faults == []
