"""A moderator works through the queue: one report after the other, and takes a decision back."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from accounts.site_texts.models import SiteTexts
from accounts.site_texts.queries import forget_site_description
from accounts.types import Restriction
from moderation.actions.appeals import file_appeal
from moderation.models import Decision, Report
from moderation.types import DecisionKind
from posts.queries.moderated import load_moderated_posts
from tests.integration.moderation.staff_pages import member, words_at
from tests.people import decide
from tests.redis_away import redis_away
from tests.world import forget_keys, make_account, publish

LIST, ADD = "/admin/moderation/report/", "/admin/moderation/decision/add/"
UNDO = re.compile(r'action="(/admin/moderation/decision/\d+/undo/)"')
pytestmark = pytest.mark.usefixtures("world")


class Queue:
    """Ben is reported first and third, Cyd second and fourth."""

    def __init__(self) -> None:
        self.ben, self.cyd = make_account("ben"), make_account("cyd")
        self.post = publish(self.ben, "Buy a boat")
        self.rows = [self.report(who) for who in (self.ben, self.cyd, self.ben, self.cyd)]

    def report(self, account_id: int) -> Report:
        return Report.objects.create(reporter_id=1, account_id=account_id, category="spam")

    def page(self, place: int) -> str:
        return f"{LIST}{self.rows[place].pk}/change/"


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def mia(queue: Queue) -> Client:
    return member("moderator", "mia")


def restrictions_of(account_id: int) -> Restriction:
    return Restriction(User.objects.get(pk=account_id).restrictions)


def finish(mia: Client, page: str, **form: object) -> str:
    """Decides as the form of the page does; the page that follows."""
    address, _, begin = page.partition("?from=")
    pk = address.removeprefix(LIST).partition("/")[0]
    sent = {"report": pk, "sent_from": f"report-{pk}", "resolves": "1", "reason": "spam"}
    sent |= {"from": begin} if begin else {}
    return str(mia.post(ADD, {**sent, "lasts": "7", **form}).headers["Location"])


def test_the_oldest_report_is_first_and_those_on_one_account_are_together(
    queue: Queue, mia: Client
) -> None:
    rows = mia.get(LIST).context["cl"].result_list
    assert [row.pk for row in rows] == [queue.rows[place].pk for place in (0, 2, 1, 3)]
    Report.objects.update(state="resolved")
    rows = mia.get(f"{LIST}?queue=resolved").context["cl"].result_list
    assert rows[0].pk == queue.rows[3].pk, "what is done has the newest first"


def test_after_a_decision_the_next_report_opens(queue: Queue, mia: Client) -> None:
    """Those on the same account come first; then the queue goes on where it was."""
    seen, page = [], queue.page(0)
    while page != LIST:
        seen.append(page.partition("?")[0])
        page = finish(mia, page, target=queue.ben, kind="warn")
    assert seen == [queue.page(place) for place in (0, 2, 1, 3)]
    assert "No other report waits." in mia.get(LIST).content.decode()
    assert not Report.objects.filter(state="open").exists()


def test_what_others_have_is_left_to_them_and_neighbours_are_a_press_away(
    queue: Queue, mia: Client
) -> None:
    member("moderator", "max")
    Report.objects.filter(pk=queue.rows[1].pk).update(assignee=User.objects.get(username="max"))
    page = mia.get(queue.page(0)).content.decode()
    where = reverse("next_report", args=[queue.rows[0].pk])
    assert f'{where}?from={queue.rows[0].pk}" data-key="j"' in page
    assert mia.get(where).headers["Location"] == queue.page(2)
    back = reverse("previous_report", args=[queue.rows[2].pk])
    assert mia.get(back).headers["Location"] == queue.page(0)
    last = reverse("next_report", args=[queue.rows[3].pk])
    assert mia.get(f"{last}?from=x").headers["Location"] == LIST
    assert member("operator", "otto").get(where).status_code == 403


def test_a_restriction_lasts_a_week_unless_chosen_and_a_warning_has_no_end(
    queue: Queue, mia: Client
) -> None:
    assert '<option value="7" selected>' in mia.get(queue.page(0)).content.decode()
    finish(mia, queue.page(0), target=queue.ben, kind="warn")
    finish(mia, queue.page(1), target=queue.cyd, kind="limit")
    warn, limit = Decision.objects.exclude(kind="resolve").order_by("pk")
    assert warn.ends_at is None
    assert limit.ends_at is not None
    assert (limit.ends_at - limit.created_at).days in (6, 7)


@pytest.mark.parametrize("kind", ["suspend", "hide", "resolve"])
def test_a_decision_is_taken_back(queue: Queue, mia: Client, kind: str) -> None:
    pk = queue.rows[0].pk
    if kind == "resolve":
        form = {"action": kind, "_selected_action": pk, "reason": "x", "sent_from": f"report-{pk}"}
        page = mia.post(LIST, form, follow=True)
    else:
        target = queue.post.public if kind == "hide" else queue.ben
        page = mia.get(finish(mia, queue.page(0), target=target, kind=kind))
    (undo,) = UNDO.findall(page.content.decode())
    assert mia.post(undo).headers["Location"] == queue.page(0)
    assert Report.objects.get(pk=pk).state == "open"
    assert not restrictions_of(queue.ben)
    (post,) = load_moderated_posts(queue.ben, [queue.post]).values()
    assert post.hidden_at is None
    assert mia.get(undo).status_code == 405
    assert member("moderator", "max").post(undo).status_code == 404, "not the own decision"


def test_what_cannot_be_taken_back_has_no_button(queue: Queue, mia: Client) -> None:
    """A warning has arrived, a deleted text is gone, and an end before is not kept."""
    decide(queue.cyd, DecisionKind.LIMIT)
    for place, target, kind in (
        (0, queue.ben, "warn"),
        (1, queue.cyd, "limit"),
        (2, queue.post.public, "delete"),
    ):
        page = mia.get(finish(mia, queue.page(place), target=target, kind=kind)).content.decode()
        assert not UNDO.findall(page), kind
        done = Decision.objects.exclude(kind="resolve").latest("pk")
        assert done.kind == kind
        assert mia.post(reverse("undo_decision", args=[done.pk])).status_code == 403


def test_the_latest_posts_are_beside_a_report_that_names_none(queue: Queue, mia: Client) -> None:
    shown = words_at(mia, queue.page(0))
    assert shown.index("Its latest posts") < shown.index("Buy a boat")
    assert "The report names no post." in shown


def test_a_report_that_another_has_open_is_left_to_them(queue: Queue, mia: Client) -> None:
    max_ = member("moderator", "max")
    max_.get(queue.page(2))
    assert "is on this report" not in words_at(max_, queue.page(2)), "not of oneself"
    assert "@max is on this report" in words_at(mia, queue.page(2))
    page = finish(mia, queue.page(0), target=queue.ben, kind="warn")
    assert page == queue.page(1), "not the third, which is on the same account"
    last = reverse("next_report", args=[queue.rows[1].pk])
    assert mia.get(last).headers["Location"] == queue.page(3)
    for place in (1, 3):
        max_.get(queue.page(place))
    assert finish(mia, queue.page(2), target=queue.ben, kind="warn") == queue.page(3)
    forget_keys()
    assert "is on this report" not in words_at(mia, queue.page(3)), "it is no lock"


def test_without_redis_a_report_opens_and_the_next_follows(queue: Queue, mia: Client) -> None:
    with redis_away():
        assert "Buy a boat" in words_at(mia, queue.page(0))
        following = finish(mia, queue.page(0), target=queue.ben, kind="warn")
    assert following.partition("?")[0] == queue.page(2)


def test_the_next_appeal_opens_after_an_answer(queue: Queue, mia: Client) -> None:
    """With the account next to it, and without a second decision."""
    appeals = []
    for who in (queue.ben, queue.cyd):
        strike = decide(who, DecisionKind.LIMIT)
        assert strike is not None
        appeals.append(file_appeal(who, strike.pk, "No"))
    pages = [reverse("admin:moderation_appeal_change", args=[row.pk]) for row in appeals]
    shown = words_at(mia, pages[0])
    assert "Limit, appeal" in shown and "Joined" in shown and "Decide on this" not in shown
    listed = reverse("admin:moderation_appeal_changelist")
    for place, reason, where in ((0, "", pages[0]), (0, "x", pages[1]), (1, "x", listed)):
        pk = appeals[place].pk
        form = {"action": "reject", "_selected_action": pk, "sent_from": f"appeal-{pk}"}
        assert mia.post(listed, {**form, "reason": reason}).headers["Location"] == where
    assert "No other appeal waits." in mia.get(listed).content.decode()


def test_reasons_are_in_the_page_before_a_script_runs(queue: Queue, mia: Client) -> None:
    SiteTexts.objects.update_or_create(pk=0, defaults={"reasons": "Not your own work"})
    forget_site_description()
    page = mia.get(queue.page(0)).content.decode()
    assert page.count('<button type="button" class="chip">Not your own work</button>') >= 2


def test_columns_that_say_the_same_in_each_row_are_left_out(queue: Queue, mia: Client) -> None:
    assert "field-shown_state" not in mia.get(LIST).content.decode()
    assert "field-shown_state" in mia.get(f"{LIST}?queue=all").content.decode()
