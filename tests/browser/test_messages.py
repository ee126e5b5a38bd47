"""Direct messages: two people write to each other on the pages of their conversation."""

import time

import pytest

from posts.actions.create_post import create_post
from posts.ids import PostId
from posts.types import Draft, Visibility
from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.feeds import enter, make_named
from tests.browser.feeds import send as send_as
from tests.browser.live_site import settle
from tests.browser.tab import DESKTOP, PHONE, Size, Tab
from tests.callers import Caller
from tests.waiting import until
from tests.world import drain_all

RAIL, NARROWEST_PANES = Size(820, 1000), Size(1100, 800)
A_DAY_S = 86_400
BADGE, BUBBLE = "#unread-messages", "#messages .bubble"
BEN = '.talk:has(a[href="/@ben"])'
# Of the row of a person: how bold the last message is, the dot, and its lines.
ROW = """(() => {
  const row = [...document.querySelectorAll('.talk')].find((one) => one.textContent.includes('%s'));
  const last = row.querySelector('.last'), line = parseFloat(getComputedStyle(last).lineHeight);
  const bar = getComputedStyle(row).boxShadow;
  return [getComputedStyle(last).fontWeight, bar === 'none' ? '' : 'bar',
    Math.round(last.getBoundingClientRect().height / line)];
})()"""
IN_FRONT = """(() => {
  Object.defineProperty(document, 'hidden', {value: false, configurable: true});
  document.dispatchEvent(new Event('visibilitychange'));
})()"""
MENU = ".talk:first-child > .menu"
OPACITY = f"getComputedStyle(document.querySelector('{MENU}')).opacity"
# Where the last message, the form and the window end; and which side the own message is on.
PLACES = """(() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const own = box(".message.own .bubble"), other = box(".message:not(.own) .bubble");
  return [box(".reply-part").bottom - innerHeight, box(".reply-part").top - box("#messages").bottom,
    own.right > other.right, own.left > other.left].map(Number);
})()"""


def send(tab: Tab, text: str) -> None:
    tab.fill("Your message", text)
    tab.press("Send")


def tell(author_id: int, text: str, answered: str | None = None) -> str:
    """A direct message by the API. Its id."""
    message = {"status": text, "visibility": "direct", "in_reply_to_id": answered}
    answer = Caller(author_id).post("/api/v1/statuses", message)
    assert answer.status_code == 200, answer.content
    return str(answer.json()["id"])


def tell_later(tab: Tab, author_id: int, text: str, answered: str) -> None:
    """As `tell`, by the server that has drawn the page."""
    message = {"status": text, "visibility": "direct", "in_reply_to_id": answered}
    send_as(tab.address, author_id, "statuses", message)
    drain_all()


def tell_at(author_id: int, text: str, at_s: float, thread: PostId | None = None) -> PostId:
    """A direct message of another day."""
    draft = Draft(text, visibility=Visibility.DIRECT, in_reply_to=thread, thread=thread)
    return create_post(author_id, draft, clock_s=lambda: at_s)


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
    bens.click(".talk.unread > a.open")
    bens.see("Is the boat in?")
    send(bens, "Since noon")
    bens.expect(bens.find(BUBBLE)).to_have_count(2)
    bens.see_no("Sent to @ann.")
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


def test_people_are_offered_while_one_types_to_whom(world: None, tab_of, delivery: None) -> None:
    """The field has the focus, and Enter takes the name. Then the list says what was sent last."""
    tab: Tab = tab_of()
    ann = make_named("ann")
    enter(tab, ann)
    make_named("ben")
    for number in range(9):
        follow(ann, make_named(f"friend{number}"))
    settle()
    tab.open("/conversations/new")
    tab.wait("document.activeElement.name === 'to'")
    tab.expect(tab.find("#compose-to")).to_be_in_viewport()
    tab.see("People you follow", "@friend8")
    tab.wait("scrollY === 0")
    tab.type_into("#compose-to", "be")
    tab.expect(tab.find(".suggestions [role=option]").first).to_contain_text("@ben")
    assert faults_of(tab) == []
    tab.type_key("Enter")
    tab.expect(tab.find("#compose-to")).to_have_value("@ben ")
    send(tab, "Is the boat in?")
    tab.expect(tab.find(BUBBLE)).to_have_count(1)
    for text in ("And the fish?", "And the crab?"):
        send(tab, text)
        tab.expect(tab.find(".talk")).to_contain_text(f"You: {text}")


@pytest.mark.parametrize("size", [DESKTOP, RAIL, PHONE])
def test_unread_messages_are_counted_in_the_navigation(world: None, tab_of, size: Size) -> None:
    ann = make_named("ann")
    for name in ("ben", "cora"):
        tell(make_named(name), "@ann psst")
    drain_all()
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/")
    tab.expect(tab.find(BADGE)).to_have_text("2 unread")
    tab.expect(tab.find(BADGE)).to_be_visible()
    tab.open("/conversations")
    tab.click(".talk:has-text('Ben') .open")
    tab.expect(tab.find(BADGE)).to_have_text("1 unread")
    tab.open("/")
    tab.expect(tab.find(BADGE)).to_have_text("1 unread")
    assert faults_of(tab) == []
    tell(make_named("dora"), "@ann psst")
    drain_all()
    tab.run("htmx.trigger('#unread', 'told')")
    tab.expect(tab.find(BADGE)).to_have_text("2 unread")


def test_a_row_is_a_link_and_only_who_sees_the_page_has_read_it(world: None, tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    tell(ben, "@ann psst")
    long = "@ann " + "a long letter about the boat and the quay " * 9
    tell(make_named("cora"), long)
    drain_all()
    tab: Tab = tab_of(PHONE)
    enter(tab, ann)
    tab.open("/conversations")
    for name, (weight, bar) in {"Ben": ("650", "bar"), "Cora": ("650", "bar")}.items():
        assert tab.run(ROW % name) == [weight, bar, 1]
    href = tab.run(f"document.querySelector('{BEN} > a.open').getAttribute('href')")
    # As a browser that fetches the page before a person opens it.
    tab.run(f"fetch('{href}').then((answer) => answer.text())")
    tab.open("/conversations")
    tab.expect(tab.find(".talk.unread")).to_have_count(2)
    # In a window behind others.
    tab.behind()
    tab.open(href)
    tab.expect(tab.find(BADGE)).to_have_text("2 unread")
    tab.run(IN_FRONT)
    tab.expect(tab.find(BADGE)).to_have_text("1 unread")


def test_a_message_that_came_after_the_page_stays_unread(world: None, tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    first = tell(ben, "@ann psst")
    drain_all()
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, ann)
    tab.open(f"/conversations/{first}")
    tell_later(tab, ben, "@ann one more", first)
    tab.press("Mark as read")
    tab.see("one more")
    tab.expect(tab.find(BADGE)).to_have_text("1 unread")
    tab.press("Mark as read")
    tab.expect(tab.find(BADGE)).to_have_text("")
    tab.see_no("Mark as read")


def test_messages_are_grouped_by_day_and_person(world: None, tab_of) -> None:
    ann, ben, now_s = make_named("ann"), make_named("ben"), time.time()
    first = tell_at(ben, "@ann long ago", now_s - 9 * A_DAY_S)
    tell_at(ben, "@ann a day ago", now_s - A_DAY_S, first)
    for number, author in enumerate((ben, ben, ann)):
        name = "ben" if author == ann else "ann"
        tell_at(author, f"@{name} now {number}", now_s + number, first)
    drain_all()
    tab: Tab = tab_of(PHONE)
    enter(tab, ann)
    tab.open(f"/conversations/{first.public}")
    tab.expect(tab.find(".day")).to_have_count(3)
    assert tab.run(
        "[...document.querySelectorAll('.day')].slice(1).map((one) => one.innerText)"
    ) == [
        "Yesterday",
        "Today",
    ]
    tab.expect(tab.find(".message.more")).to_have_count(1)
    tab.expect(tab.find(".message .at").filter(visible=True)).to_have_count(4)
    send(tab, "And this")
    tab.expect(tab.find(".message.more")).to_have_count(2)
    tab.expect(tab.find(".day")).to_have_count(3)
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "conversation-days-390.png")


def test_a_list_that_is_open_shows_new_messages_and_a_poll_in_one_takes_votes(
    world: None, tab_of
) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    poll = {"options": ["At nine", "At ten"], "expires_in": 3600}
    message = {"status": "@ann when?", "visibility": "direct", "poll": poll}
    first = Caller(ben).post("/api/v1/statuses", message).json()["id"]
    drain_all()
    tab: Tab = tab_of()
    enter(tab, ann)
    tab.open(f"/conversations/{first}")
    tab.tick("At ten")
    tab.press("Vote")
    tab.see("100")
    tab.expect(tab.find("#messages .poll")).to_have_count(1)
    tell(make_named("cora"), "@ann hi")
    drain_all()
    tab.run("htmx.trigger('#unread', 'told')")
    tab.expect(tab.find(".talk.unread")).to_contain_text("Cora")
    tab.expect(tab.find(".talk.current")).to_contain_text("Ben")


def unread_of(account_id: int) -> int:
    talks = Caller(account_id).get("/api/v1/conversations").json()
    return sum(talk["unread"] for talk in talks)


@pytest.mark.parametrize("size", [DESKTOP, NARROWEST_PANES, RAIL, PHONE])
def test_the_list_is_next_to_the_conversation_on_a_wide_window(
    world: None, tab_of, size: Size
) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    first = tell(ben, "@ann psst")
    for number in range(25):
        tell(ben, f"@ann number {number}", first)
    tell(make_named("cora"), "@ann hi")
    drain_all()
    tab: Tab = tab_of(size)
    enter(tab, ann)
    tab.open("/conversations")
    has_panes = size.width >= 1100
    tab.expect(tab.find(".wide-pane")).to_be_visible(visible=has_panes)
    assert faults_of(tab) == []
    tab.click(f"{BEN} > a.open")
    tab.see("number 24")
    tab.expect(tab.find(BADGE)).to_have_text("1 unread")
    tab.expect(tab.find(".talk.current")).to_be_visible(visible=has_panes)
    tab.expect(tab.find(".back")).to_be_visible(visible=not has_panes)
    tab.expect(tab.find(".message").last).to_be_in_viewport()
    tab.expect(tab.find(".message").first).not_to_be_in_viewport()
    tell_later(tab, ben, "@ann one more", first)
    tab.run("htmx.trigger('#unread', 'told')")
    tab.see("one more")
    tab.expect(tab.find(".message").last).to_be_in_viewport()
    # Who leaves before the server knows that it was read has it unread.
    until(lambda: unread_of(ann) == 1)
    assert faults_of(tab) == []
    assert tab.overflow_px() <= 0
    if has_panes:
        tab.click(".talk:has-text('Cora') > a.open")
    else:
        tab.follow("All direct messages")
        tab.click(".talk:has-text('Cora') > a.open")
    tab.expect(tab.find(BUBBLE)).to_have_text("hi")
    tab.expect(tab.find(BADGE)).to_have_text("")


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


def test_the_menu_of_a_conversation_comes_with_the_mouse_or_the_focus(world: None, tab_of) -> None:
    ann = make_named("ann")
    message = {"status": "@ann psst", "visibility": "direct"}
    assert Caller(make_named("ben")).post("/api/v1/statuses", message).status_code == 200
    drain_all()
    tab, phone = tab_of(DESKTOP), tab_of(PHONE)
    for one in (tab, phone):
        enter(one, ann)
        one.open("/conversations")
    assert phone.run(OPACITY) == "1" and tab.run(OPACITY) == "0"
    tab.run(f"document.querySelector('{MENU} summary').focus()")
    assert tab.run(OPACITY) == "1"
    tab.type_key("Enter")
    tab.see("Hide from the list", "@ben")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "conversation-menu-1280.png")
    tab.press("Hide from the list")
    tab.expect(tab.find(".talk")).to_have_count(0)


def test_a_conversation_fills_the_window_and_ends_with_the_form(world: None, tab_of) -> None:
    ann, ben = make_named("ann"), make_named("ben")
    message = {"status": "@ann psst", "visibility": "direct"}
    sent = Caller(ben).post("/api/v1/statuses", message).json()
    answer = {"status": "@ben yes?", "visibility": "direct", "in_reply_to_id": sent["id"]}
    make_named("cora")
    for text in (answer, {"status": "@cora yes?", "visibility": "direct"}):
        assert Caller(ann).post("/api/v1/statuses", text).status_code == 200
    drain_all()
    for size, bar_px in ((DESKTOP, 0), (PHONE, 57)):
        tab: Tab = tab_of(size)
        enter(tab, ann)
        tab.open(f"/conversations/{sent['id']}")
        tab.expect(tab.find(".talk-start")).to_contain_text("Only the people named here")
        below_px, gap_px, *sides = tab.run(PLACES)
        assert abs(below_px + bar_px) <= 3 and abs(gap_px) <= 1 and sides == [1, 1]
        assert tab.run("document.scrollingElement.scrollHeight - innerHeight") <= 2
        if size is PHONE:
            tab.expect(tab.find(".side .write")).not_to_be_visible()
        tab.open("/conversations")
        tab.expect(tab.find(".talk:has-text('Cora') .last")).to_have_text("You: yes?")
        header, link = tab.find(".pane > .top"), tab.find(".pane > .top a")
        tab.expect(link).to_have_text("New message")
        if size is PHONE:
            tab.expect(tab.find(".side .write")).not_to_be_visible()
        tab.expect(header).to_contain_text("Messages")
