"""Sign out is in reach at each width of the window."""

import pytest

from tests.browser.artifacts import SHOTS
from tests.browser.feeds import enter, make_named, sign_out
from tests.browser.tab import Size, Tab


@pytest.mark.parametrize("width", [390, 681, 800, 1000, 1140, 1280])
def test_a_person_signs_out(world: None, tab_of, width: int) -> None:
    tab: Tab = tab_of(Size(width, 800))
    enter(tab, make_named("ann"))
    tab.open("/")
    tab.shoot(SHOTS / f"sign-out-{width}.png")
    if width <= 680:
        tab.click(".side nav .menu summary")
        tab.press("Sign out")
    else:
        sign_out(tab, "ann")
    tab.at("/auth/sign_in")
