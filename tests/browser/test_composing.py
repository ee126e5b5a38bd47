"""The form of a post helps: names, emoji, photos, drafts, and it says where the post went."""

from contextlib import nullcontext

import pytest

from relations.actions.follow import follow
from tests.browser.artifacts import SHOTS
from tests.browser.axe import faults_of
from tests.browser.bringing import bring, describe
from tests.browser.feeds import enter, make_named, sign_out
from tests.browser.live_site import settle
from tests.browser.tab import PHONE, Size, Tab
from tests.pictures import picture
from tests.world import drain_all, publish

OPTION, CHOSEN = ".suggestions [role=option]", ".suggestions [aria-selected=true]"
TEXT = "#compose-text"
# Where the choices below the text begin, and the narrowest of them.
ROW = """(() => {
  const boxes = [...document.querySelectorAll(".audience select")].map((one) => one.getBoundingClientRect());
  return [new Set(boxes.map(({top}) => Math.round(top))).size, Math.min(...boxes.map(({width}) => width))];
})()"""  # noqa: E501
NARROWEST_PX = 70
COLOUR = "getComputedStyle(document.querySelector('.compose .send')).backgroundColor"
PLACE = "document.querySelector('.compose .send').getBoundingClientRect().top"
HEIGHT, ONE_LINE_PX = "document.querySelector('.compose').offsetHeight", 100
BOTTOMS = """[".compose .tools", ".compose .send"].map(
  (one) => document.querySelector(one).getBoundingClientRect().bottom)"""
PHOTO = ".attached .photo"
IDS = "[...document.querySelectorAll('[name=media_ids]')].map((one) => one.value)"


@pytest.fixture
def tab(ann: int, tab_of, delivery: None) -> Tab:
    """Of ann, who knows ben."""
    follow(ann, make_named("ben"))
    settle()
    tab: Tab = tab_of()
    enter(tab, ann)
    tab.open("/")
    return tab


def test_the_form_is_one_line_until_someone_writes(tab: Tab) -> None:
    closed = tab.run(HEIGHT)
    assert closed < ONE_LINE_PX
    tab.expect(tab.find(".compose .send")).not_to_be_visible()
    tab.expect(tab.find(".compose .tool.file")).to_be_visible()
    tab.click(TEXT)
    empty = tab.run(COLOUR)
    tab.expect(tab.find(".audience label").first).to_have_text("Visible to")
    tab.expect(tab.find(".audience label").first).to_be_visible()
    tab.type_text("Good morning")
    assert tab.run(COLOUR) != empty
    assert tab.run(HEIGHT) > closed
    tab.press("Post")
    tab.see("Posted.")
    tab.wait(f"{HEIGHT} < {ONE_LINE_PX}")


def test_ctrl_and_enter_send_and_escape_leaves_the_text(tab: Tab) -> None:
    type_slowly(tab, "sent by keys")
    tab.type_key("Escape")
    tab.wait("document.activeElement === document.body")
    tab.click(TEXT)
    tab.type_key("Control+Enter")
    tab.see("Posted.")
    tab.expect(tab.find(".entry:has-text('sent by keys')")).to_have_count(1)


def test_suggestions_move_nothing(tab: Tab) -> None:
    """Else a press on a button below them is lost, because it moves when they go."""
    type_slowly(tab, "Hello @b")
    before = tab.run(PLACE)
    tab.type_text("e")
    tab.expect(tab.find(CHOSEN)).to_contain_text("@ben")
    assert tab.run(PLACE) == before
    assert tab.overflow_px() <= 0


def test_the_link_of_a_post_is_copied(tab: Tab, ann: int) -> None:
    tab.fill("Your post", "to be shared")
    tab.press("Post")
    tab.see("Posted.")
    tab.open("/@ann")
    tab.run("void (navigator.clipboard.writeText = async (text) => { globalThis.copied = text; })")
    tab.click(".entry .menu summary")
    tab.press("Copy link")
    tab.see("Copied.")
    assert tab.run("copied === document.querySelector('.entry .when').href")
    tab.run("void (navigator.clipboard.writeText = () => Promise.reject())")
    tab.click(".entry .menu summary")
    tab.press("Copy link")
    tab.wait("location.pathname.startsWith('/statuses/')")


def test_keys_send_nothing_while_photos_are_on_their_way(tab: Tab) -> None:
    type_slowly(tab, "with a photo")
    tab.run("document.querySelector('.compose .send').disabled = true")
    tab.type_key("Control+Enter")
    tab.run("document.querySelector('.compose .send').disabled = false")
    tab.expect(tab.find(TEXT)).to_have_value("with a photo")
    assert tab.count(tab.find(".entry")) == 0
    tab.type_key("Control+Enter")
    tab.see("Posted.")


def test_a_new_post_opens_with_the_cursor_in_it(tab: Tab) -> None:
    tab.follow("New post")
    tab.wait("document.activeElement === document.querySelector('dialog [name=status]')")
    tab.type_text("half of a thought for @be")
    tab.expect(tab.find(CHOSEN)).to_contain_text("@ben")
    tab.wait("JSON.stringify(localStorage).includes('half of a thought')")


def type_slowly(tab: Tab, text: str) -> None:
    tab.click(TEXT)
    tab.type_text(text)


def test_names_and_emoji_are_offered_while_one_types(tab: Tab) -> None:
    type_slowly(tab, "Hello @be")
    tab.expect(tab.find(CHOSEN)).to_contain_text("@ben")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "completion-1280.png")
    tab.type_key("Enter")
    tab.expect(tab.find(TEXT)).to_have_value("Hello @ben ")
    tab.expect(tab.find(OPTION).first).not_to_be_visible()
    tab.type_text(":tada")
    tab.expect(tab.find(CHOSEN)).to_contain_text("🎉")
    tab.type_key("Tab")
    tab.expect(tab.find(TEXT)).to_have_value("Hello @ben 🎉 ")
    tab.type_text("@be")
    tab.expect(tab.find(CHOSEN)).to_contain_text("@ben")
    tab.type_key("Escape")
    tab.expect(tab.find(OPTION).first).not_to_be_visible()


def test_tags_that_others_use_are_offered(tab: Tab, ann: int) -> None:
    publish(ann, "the #harbour in the morning")
    settle()
    type_slowly(tab, "look #harb")
    tab.expect(tab.find(CHOSEN)).to_have_text("#harbour 1 post this week")
    tab.click(OPTION)
    tab.expect(tab.find(TEXT)).to_have_value("look #harbour ")


def test_an_emoji_is_picked(tab: Tab) -> None:
    type_slowly(tab, "Good morning")
    tab.click("button[aria-label='Add an emoji']")
    tab.fill("Find an emoji", "sunrise")
    tab.expect(tab.find(".picker .emoji button").first).to_be_visible()
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "picker-1280.png")
    tab.click(".picker .emoji button[aria-label='sunrise']")
    tab.expect(tab.find(TEXT)).to_have_value("Good morning🌅")
    tab.click("button[aria-label='Add an emoji']")
    tab.expect(tab.find(".picker h2").first).to_have_text("Used lately")
    tab.fill("Find an emoji", "$& <b>")
    tab.expect(tab.find(".picker .emoji")).to_have_text("No emoji for “$& <b>”")
    assert faults_of(tab) == []


def test_a_draft_survives_a_reload_with_its_photos(tab: Tab) -> None:
    tab.fill("Your post", "half of a thought")
    bring(tab, "drop", "boat.png")
    describe(tab, 1, "A boat")
    tab.wait("(localStorage[Object.keys(localStorage)[0]] || '').includes('A boat')")
    tab.open("/")
    tab.see("Your draft is back.")
    tab.expect(tab.find(TEXT)).to_have_value("half of a thought")
    tab.expect(tab.find("[aria-label='Description of photo 1']")).to_have_value("A boat")
    tab.press("Post")
    tab.see("Posted.")
    tab.open("/")
    tab.expect(tab.find(TEXT)).to_have_value("")
    tab.see_no("Your draft is back.")


def test_a_sign_out_removes_drafts(tab: Tab) -> None:
    tab.fill("Your post", "a secret")
    tab.wait("JSON.stringify(localStorage).includes('a secret')")
    sign_out(tab, "ann")
    tab.at("/auth/sign_in")
    tab.wait("!JSON.stringify(localStorage).includes('a secret')")


def test_photos_are_described_in_a_window_and_change_their_places(tab: Tab) -> None:
    for number, name in enumerate(("one", "two"), 1):
        bring(tab, "drop", f"{name}.png")
        tab.expect(tab.find(".attached")).to_have_count(number)
    before = tab.run(IDS)
    tab.press("Describe photo 2")
    tab.fill("Describe it for people who cannot see it", "The second boat")
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "describing-1280.png")
    tab.press("Done")
    tab.expect(tab.find(PHOTO).nth(1)).to_be_focused()
    tab.expect(tab.find("[aria-label='Description of photo 2']")).to_have_value("The second boat")
    tab.press("Move photo 2 forward")
    tab.expect(tab.find("[aria-label='Description of photo 1']")).to_have_value("The second boat")
    assert tab.run(IDS) == before[::-1]
    tab.press("Remove photo 1")
    tab.expect(tab.find(".attached")).to_have_count(1)
    assert tab.run(IDS) == before[:1]


def test_a_photo_has_one_place_for_its_description(tab: Tab) -> None:
    bring(tab, "drop", "boat.png")
    photo = tab.find(PHOTO)
    tab.expect(photo).to_have_accessible_name("Describe photo 1")
    tab.expect(tab.find(".attached textarea")).not_to_be_visible()
    tab.click(PHOTO)
    tab.expect(tab.find("dialog[open] textarea")).to_be_focused()
    tab.expect(tab.find("textarea:visible[aria-label^='Description of photo']")).to_have_count(0)
    tab.type_text("A boat")
    tab.type_key("Escape")
    tab.expect(photo).to_have_accessible_name("Change the description of photo 1")
    tab.expect(photo).to_contain_text("ALT")
    tab.expect(photo.locator(".tick")).to_be_visible()
    assert faults_of(tab) == []
    tab.shoot(SHOTS / "described-1280.png")


def test_without_scripts_the_description_is_written_next_to_the_photo(ann: int, tab_of) -> None:
    tab: Tab = tab_of(has_scripts=False)
    enter(tab, ann)
    tab.open("/compose")
    tab.choose_image("input[name=image]", "boat.png", picture())
    tab.press("Attach")
    tab.expect(tab.find(PHOTO)).not_to_be_visible()
    tab.fill("Description of photo 1", "A boat")
    tab.fill("Your post", "by hand")
    tab.press("Post")
    tab.expect(tab.find(".entry .images img[alt='A boat']").first).to_be_visible()


def test_the_ring_says_how_much_room_is_left(tab: Tab) -> None:
    number = tab.find(".left b")
    tab.fill("Your post", "x" * 100)
    tab.wait("document.querySelector('.left .arc').getAttribute('stroke-dasharray') === '20 100'")
    tab.fill("Your post", "x" * 510)
    tab.expect(number).to_have_text("-10")
    tab.expect(tab.find(".left.over")).to_have_count(1)


def test_a_reply_opens_with_the_focus_and_says_whom_it_answers(tab: Tab) -> None:
    publish(make_named("cora"), "a question for @ann")
    drain_all()
    tab.open("/public")
    # The column beside home has asked for public posts, and the answer is remembered for seconds.
    tab.see_after_reloads("a question")
    tab.click(".entry:has-text('a question') .act[aria-label^=Reply]")
    tab.wait("document.activeElement.id === 'sheet-reply-text'")
    tab.see("Replying to @cora")
    tab.type_text("yes")
    tab.expect(tab.find("#sheet-reply-text")).to_have_value("@cora yes")
    tab.press("Reply")
    tab.see("Reply posted.")


def test_the_page_says_where_a_post_went(tab: Tab) -> None:
    tab.fill("Your post", "@ben for you")
    tab.choose("Visible to", "Direct message")
    tab.press("Post")
    tab.see("Sent to @ben.")
    tab.fill("Your post", "for all")
    tab.press("Post")
    tab.see("Posted.")
    tab.follow("View")
    tab.see("for all")


def test_a_favourite_is_shown_at_once_and_taken_back_if_it_fails(tab: Tab, ann: int) -> None:
    publish(ann, "like me")
    settle()
    tab.open("/")
    mark = ".entry:has-text('like me') .act.favourite"
    with tab.answers_after_s("**/favourite", 2):
        tab.click(mark)
        tab.wait("document.querySelector('#timeline .act.favourite').ariaPressed === 'true'")
    tab.expect(tab.find(f"{mark} span")).to_have_text("1")
    tab.refuse("**/unfavourite")
    tab.click(mark)
    tab.see("The server does not answer")
    tab.expect(tab.find(f"{mark}[aria-pressed=true]")).to_have_count(1)
    tab.faults.clear()


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
@pytest.mark.parametrize("width", [1280, 1024, 768, 400])
def test_all_choices_of_the_form_are_in_one_row(ann: int, tab_of, width: int, locale: str) -> None:
    tab: Tab = tab_of(Size(width, 800), locale=locale)
    enter(tab, ann)
    tab.open("/compose")
    tab.click(TEXT)
    tab.expect(tab.find(".audience select")).to_have_count(2)
    rows, narrowest_px = tab.run(ROW)
    assert rows == 1 and narrowest_px >= NARROWEST_PX and tab.overflow_px() <= 0
    for scheme in ("light", "dark"):
        with tab.dark() if scheme == "dark" else nullcontext():
            tab.shoot(SHOTS / f"choices-{locale}-{scheme}-{width}.png")


def test_a_new_post_has_the_screen_of_a_phone_for_itself(ann: int, tab_of) -> None:
    """The button is at the top, and a keyboard, which takes half of the screen, covers no tool."""
    tab: Tab = tab_of(PHONE)
    enter(tab, ann)
    tab.open("/compose")
    tab.expect(tab.find(".side nav")).not_to_be_visible()
    tools_px, send_px = tab.run(BOTTOMS)
    assert send_px < 64 and tools_px < PHONE.height / 2
    tab.fill("Your post", "A long day at the quay. " * 40)
    tools_px, send_px = tab.run(BOTTOMS)
    assert send_px < 64 < tools_px
    assert faults_of(tab) == []
    tab.fill("Your post", "from the top of the screen")
    tab.press("Post")
    tab.at("/")
    tab.see("from the top of the screen")
    tab.expect(tab.find(".side nav")).to_be_visible()


def test_the_form_on_a_phone(ann: int, tab_of) -> None:
    tab: Tab = tab_of(PHONE)
    enter(tab, ann)
    tab.open("/compose")
    tab.click(".tool[title='Add a poll']")
    tab.fill("Option 1", "tea")
    tab.expect(tab.find("[name=option]").nth(2)).not_to_be_visible()
    tab.fill("Option 2", "milk")
    tab.expect(tab.find("[name=option]").nth(2)).to_be_visible()
    tab.click("button[aria-label='Add an emoji']")
    tab.expect(tab.find(".picker .emoji button").first).to_be_visible()
    assert tab.overflow_px() <= 0
    tab.shoot(SHOTS / "compose-390.png")
