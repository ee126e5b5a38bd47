"""Reports, strikes and appeals, in Mastodon's shapes and with its faults."""

from typing import Any

import pytest
from pytest_django import Settings

from moderation.actions.appeals import accept_appeal, reject_appeal
from moderation.errors import AppealDecided
from moderation.models import Appeal, Decision, Report
from moderation.types import DecisionKind
from posts.actions.delete_post import delete_post
from posts.ids import PostId
from tests.callers import Caller
from tests.people import BECAUSE, Community, decide, decide_on
from tests.site_rules import make_rule
from tests.world import NOW, drain_all

REPORTS, STRIKES = "/api/v1/reports", "/api/v1/strikes"


def test_a_report_comes_back_as_mastodon_shows_it(community: Community) -> None:
    sent = {
        "account_id": str(community.moderated),
        "status_ids": [community.theirs.public, community.answer.public],
        "comment": "Sells followers",
        "category": "spam",
        "forward": True,
    }
    answer = Caller(community.me).post(REPORTS, sent)
    assert answer.status_code == 200
    report = answer.json()
    assert report.pop("target_account")["id"] == str(community.moderated)
    assert report.pop("created_at").endswith("Z")
    row = Report.objects.get()
    assert report == {
        "id": str(row.pk),
        "action_taken": False,
        "action_taken_at": None,
        "category": "spam",
        "comment": "Sells followers",
        "forwarded": False,
        "status_ids": [community.theirs.public, community.answer.public],
        "rule_ids": None,
    }
    assert (row.reporter_id, row.account_id, row.state) == (
        community.me,
        community.moderated,
        "open",
    )


def test_little_is_needed_and_a_form_will_do(community: Community) -> None:
    caller = Caller(community.me)
    assert (
        caller.post(REPORTS, {"account_id": str(community.moderated)}).json()["category"] == "other"
    )
    form = {"account_id": community.moderated, "status_ids[]": [community.theirs.public]}
    sent = caller.client.post(REPORTS, form)
    assert sent.json()["status_ids"] == [community.theirs.public]


def test_the_rules_that_it_breaks_are_kept_and_make_it_a_violation(community: Community) -> None:
    """As in Mastodon, which then does not read the category."""
    caller, reported = Caller(community.me), {"account_id": str(community.moderated)}
    polite, honest = map(make_rule, ("Be polite", "Sell no boats"))
    for category in ("", "spam"):
        sent = reported | {"rule_ids": [str(honest), polite, str(honest)], "category": category}
        answer = caller.post(REPORTS, sent).json()
        assert answer["category"] == "violation"
        assert answer["rule_ids"] == [str(honest), str(polite)]
    form = reported | {"rule_ids[]": [str(polite)]}
    assert caller.client.post(REPORTS, form).json()["rule_ids"] == [str(polite)]
    assert [row.rule_ids for row in Report.objects.order_by("id")] == [[honest, polite]] * 2 + [
        [polite]
    ]
    assert caller.post(REPORTS, reported | {"rule_ids": []}).json()["rule_ids"] is None


def test_what_is_wrong_is_said(community: Community) -> None:
    for change, status, error in [
        ({"account_id": "99999999"}, 404, "Record not found"),
        ({"account_id": None}, 404, "Record not found"),
        ({"account_id": ["1"]}, 404, "Record not found"),
        ({"status_ids": ["nonsense"]}, 404, "Record not found"),
        ({"status_ids": [PostId(5, 7, 1).public]}, 404, "Record not found"),
        (
            {"status_ids": ["x"] * 1 + [f"{n:014d}" for n in range(100)]},
            422,
            "status_ids has more than 100",
        ),
        ({"comment": "x" * 1_001}, 422, "Validation failed: Comment is too long (maximum is 1000"),
        ({"comment": {}}, 422, "comment must be text"),
        ({"category": "boring"}, 422, "'boring' is not a valid category"),
        *(
            ({"rule_ids": rules}, 422, "Validation failed: Rule ids do")
            for rules in (["1"], ["x"], [{}], [-1], ["9" * 25], "99", [None], [True])
        ),
        ({"rule_ids": {"a": 1}}, 422, "rule_ids must be a list"),
        ({"rule_ids": list(range(101))}, 422, "rule_ids has more than"),
    ]:
        answer = Caller(community.me).post(
            REPORTS, {"account_id": str(community.moderated)} | change
        )
        assert (answer.status_code, answer.json()["error"][: len(error)]) == (status, error), (
            change,
            status,
            error,
        )
        assert not Report.objects.exists(), (change, status, error)


def test_a_post_that_is_gone_or_never_was_is_reported_like_any_other(community: Community) -> None:
    """An error would tell a blocked account which posts there are."""
    delete_post(community.theirs)
    absent = PostId(7, community.moderated, 1)
    posts = [community.theirs.public, absent.public]
    sent = {"account_id": str(community.moderated), "status_ids": posts}
    answer = Caller(community.me).post(REPORTS, sent)
    assert (answer.status_code, answer.json()["status_ids"]) == (200, posts)
    assert Report.objects.get().posts == [community.theirs, absent]


def test_posts_of_others_are_not_reported_with_an_account(community: Community) -> None:
    sent = {"account_id": str(community.moderated), "status_ids": [community.friends.public]}
    assert Caller(community.me).post(REPORTS, sent).status_code == 404


def test_so_many_a_day(community: Community, settings: Settings) -> None:
    settings.REPORTS_PER_DAY = 2
    caller, sent = Caller(community.unrelated), {"account_id": str(community.moderated)}
    answers = [caller.post(REPORTS, sent) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 86_400
    assert Report.objects.count() == 2


def test_reports_of_who_is_suspended_later_stay(community: Community) -> None:
    Caller(community.moderated).post(REPORTS, {"account_id": str(community.friend)})
    decide(community.moderated, DecisionKind.SUSPEND)
    drain_all()
    assert Report.objects.count() == 1


def test_strikes_are_ones_own_the_latest_first_in_pages(community: Community) -> None:
    decisions = [
        decide(community.moderated, DecisionKind.WARN),
        decide(community.moderated, DecisionKind.LIMIT),
    ]
    decisions.append(decide_on(community.theirs, DecisionKind.HIDE))
    decide(community.friend, DecisionKind.WARN)
    decide(community.moderated, DecisionKind.RESTORE)
    caller = Caller(community.moderated)
    strikes = caller.get(STRIKES).json()
    assert [one["action"] for one in strikes] == ["hide_statuses", "silence", "none"]
    assert strikes[0]["status_ids"] == [community.theirs.public]
    assert strikes[0]["target_account"]["id"] == str(community.moderated)
    page = caller.get(STRIKES, {"limit": 1})
    assert f"max_id={decisions[2].pk}" in page["Link"]  # type: ignore[union-attr]
    rest = caller.get(STRIKES, {"max_id": page.json()[0]["id"]}).json()
    assert rest == strikes[1:]
    up = caller.get(STRIKES, {"min_id": rest[-1]["id"], "limit": 1}).json()
    assert up == [strikes[1]]
    assert Caller(community.me).get(STRIKES).json() == []


def appeal(account_id: int, decision: Decision | None, text: str = "It was not me") -> Any:
    assert decision is not None
    return Caller(account_id).post(f"{STRIKES}/{decision.pk}/appeal", {"text": text})


def test_a_frozen_account_appeals_once_and_is_heard(community: Community) -> None:
    strike = decide(community.moderated, DecisionKind.FREEZE)
    decide(community.moderated, DecisionKind.LIMIT)
    assert appeal(community.moderated, strike, " ").status_code == 422
    assert appeal(community.moderated, strike, "x" * 2_001).status_code == 422
    answer = appeal(community.moderated, strike)
    assert answer.status_code == 200
    assert answer.json()["appeal"] == {"text": "It was not me", "state": "pending"}
    assert appeal(community.moderated, strike).status_code == 422
    assert appeal(community.me, strike).status_code == 404
    accept_appeal(Appeal.objects.get().pk, BECAUSE, NOW)
    caller = Caller(community.moderated)
    assert caller.post("/api/v1/statuses", {"status": "thanks"}).status_code == 200
    shown = caller.get(f"/api/v1/accounts/{community.moderated}").json()
    assert shown["limited"], "the other decision holds"
    assert caller.get(STRIKES).json()[1]["appeal"]["state"] == "approved"
    with pytest.raises(AppealDecided):
        reject_appeal(Appeal.objects.get().pk, BECAUSE, NOW)
    decisions = list(Decision.objects.order_by("id").values_list("kind", "restrictions"))
    assert decisions == [("freeze", 2), ("limit", 3), ("accept", None), ("restore", 1)]


def test_a_rejected_appeal_leaves_all_as_it_is(community: Community) -> None:
    strike = decide_on(community.theirs, DecisionKind.HIDE)
    appeal(community.moderated, strike)
    reject_appeal(Appeal.objects.get().pk, BECAUSE, NOW)
    drain_all()
    assert community.repost_of_theirs.public not in community.home()
    strikes = Caller(community.moderated).get(STRIKES).json()
    assert strikes[0]["appeal"]["state"] == "rejected"


def test_an_accepted_appeal_shows_a_post_again(community: Community) -> None:
    appeal(community.moderated, decide_on(community.theirs, DecisionKind.HIDE))
    accept_appeal(Appeal.objects.get().pk, BECAUSE, NOW)
    assert community.home() == community.whole_home


def test_what_is_no_strike_is_not_appealed_against(community: Community) -> None:
    decide(community.moderated, DecisionKind.LIMIT)
    restored = decide(community.moderated, DecisionKind.RESTORE)
    assert appeal(community.moderated, restored).status_code == 404
