"""A browser, which opens the site."""

from tests.browser.session import browser

__all__ = ["browser"]
