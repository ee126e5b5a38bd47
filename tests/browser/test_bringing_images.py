"""Images that are chosen for a post, dropped on its form, or pasted into it."""

from tests.browser.bringing import bring
from tests.browser.feeds import enter, make_named
from tests.browser.tab import Tab
from tests.pictures import picture


def test_images_are_attached_by_choosing_dropping_and_pasting(world: None, tab: Tab) -> None:
    enter(tab, make_named("ann"))
    tab.open("/")
    # The form is still small. What is pressed in it must not move.
    tab.choose_image("#compose .tool.file", "zero.png", picture())
    tab.expect(tab.find(".attached")).to_have_count(1)
    tab.fill("Your post", "the boats")
    assert bring(tab, "dragover", "one.png")
    # The second comes while the first is on its way.
    assert bring(tab, "drop", "one.png")
    assert bring(tab, "paste", "two.png")
    tab.expect(tab.find(".attached")).to_have_count(3)
    tab.press("Post")
    tab.expect(tab.find(".entry .images img:not(.blur)")).to_have_count(3)
    tab.see("the boats")


def test_what_is_no_image_is_not_attached(world: None, tab: Tab) -> None:
    enter(tab, make_named("ann"))
    tab.open("/")
    # A browser that opens the file loses what was typed.
    assert bring(tab, "drop", "boats.csv")
    tab.see("Only photos can be attached")
    assert not bring(tab, "paste", "cells.png", text="12 boats")
    assert not bring(tab, "paste", text="12 boats")
    assert not bring(tab, "drop", text="12 boats")
    tab.expect(tab.find(".attached")).to_have_count(0)
