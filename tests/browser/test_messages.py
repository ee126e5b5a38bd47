"""Direct messages: two people write to each other on the pages of their conversation."""

from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.live_site import settle
from tests.browser.tab import PHONE, Tab

BUBBLE = "#messages .bubble"


def send(tab: Tab, text: str) -> None:
    tab.fill("Your message", text)
    tab.press("Send")


def test_two_people_talk(world: None, tab_of, delivery: None) -> None:
    anns, bens = tab_of(), tab_of(PHONE)
    enter(anns, make_named("ann"))
    enter(bens, make_named("ben"))
    anns.open("/@ben")
    anns.follow("Message @ben")
    anns.expect(anns.find("[name=to]")).to_have_value("@ben")
    send(anns, "Is the boat in?")
    anns.expect(anns.find(BUBBLE)).to_contain_text("Is the boat in?")
    anns.expect(anns.find(BUBBLE)).not_to_contain_text("@ben")
    settle()
    bens.open("/conversations")
    assert faults_of(bens) == []
    bens.click(".talk.unread .open button")
    bens.see("Is the boat in?")
    send(bens, "Since noon")
    bens.see("Sent to @ann.")
    bens.expect(bens.find(BUBBLE)).to_have_count(2)
    send(bens, "With fish")
    bens.expect(bens.find(BUBBLE)).to_have_count(3)
    bens.expect(bens.find(".message.own")).to_have_count(2)
    settle()
    anns.run("htmx.trigger('#unread', 'told')")
    anns.expect(anns.find(BUBBLE)).to_have_count(3)
    for tab in (anns, bens):
        assert faults_of(tab) == []
        assert tab.overflow_px() <= 0
        tab.shoot(SHOTS / f"conversation-{tab.size.width}.png")
    anns.open("/conversations")
    anns.see("With fish")
    settle()
    anns.expect(anns.find(".talk.unread")).to_have_count(0)


def test_a_message_to_no_account_is_refused_with_its_text(world: None, tab_of) -> None:
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, make_named("ann"))
    tab.open("/conversations/new")
    tab.fill("Send to", "@absent")
    tab.fill("Your message", "hello?")
    tab.press("Send")
    tab.see("There is no account @absent")
    tab.expect(tab.find("[name=status]")).to_have_value("hello?")
    tab.faults.clear()


def test_without_scripts_a_message_is_sent_and_read(world: None, tab_of) -> None:
    make_named("ben")
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, make_named("ann"))
    tab.open("/conversations/new?to=ben")
    for text in ("first", "second"):
        send(tab, text)
        tab.expect(tab.find(BUBBLE).last).to_contain_text(text)
    tab.expect(tab.find(BUBBLE)).to_have_count(2)
