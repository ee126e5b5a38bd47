"""The rules, ids and groups of notifications, with plain values."""

import pytest

from counters.kinds import DECLARED
from notifications.groups import SPAN_MS, GroupKey
from notifications.ids import first_id, id_of, kinds_of
from notifications.rules import Circumstances, judge
from notifications.types import (
    GROUPED_KINDS,
    Measure,
    NotificationKind,
    NotificationRow,
    Policy,
    Verdict,
)
from relations.types import Attribute, Relationship

OWNER, ACTOR, NOW_MS = 1, 2, 1_795_000_000_000
ACCOUNT = b'{"id":"2","created_at":"2026-01-05T00:00:00.000Z"}'
NEW, LIMITED = ACCOUNT.replace(b"2026-01-05", b"2026-11-01"), b'{"limited":true,' + ACCOUNT[1:]
STATUS = b'{"in_reply_to_account_id":null,"visibility":"public","muted":false}'
DIRECT = STATUS.replace(b"public", b"direct")
ANSWER = DIRECT.replace(b"null", b'"1"')
FOLLOWED, FOLLOWER = Relationship(mine=Attribute.FOLLOW), Relationship(theirs=Attribute.FOLLOW)
STRANGER, DROP = Relationship(), Measure.DROP
MENTION, FOLLOW, REQUEST, FAVOURITE, _, POSTED, POLL, *_, WARNING, _ = NotificationKind
SHOWN, FILTERED, HIDDEN = Verdict
DEFAULT = Policy()


def facts(**changed: object) -> Circumstances:
    return Circumstances(ACCOUNT, STRANGER, STATUS, False, False)._replace(**changed)  # type: ignore[arg-type]


# kind, what is so, the policy, what becomes of it
CASES = [
    (MENTION, facts(), DEFAULT, SHOWN),
    (MENTION, facts(account=None), DEFAULT, HIDDEN),
    (MENTION, facts(status=None), DEFAULT, HIDDEN),
    (MENTION, facts(status=STATUS.replace(b"false", b"true")), DEFAULT, HIDDEN),
    (FAVOURITE, facts(is_undone=True), DEFAULT, HIDDEN),
    (POSTED, facts(), DEFAULT, HIDDEN),
    (POSTED, facts(relationship=FOLLOWED), DEFAULT, SHOWN),
    (POSTED, facts(relationship=FOLLOWED), Policy(for_not_followers=DROP), HIDDEN),
    (POLL, facts(), Policy(for_not_following=DROP), SHOWN),
    (POLL, facts(status=STATUS.replace(b"false", b"true")), DEFAULT, HIDDEN),
    (WARNING, facts(status=None), Policy(*[DROP] * 5), SHOWN),
    (WARNING, facts(status=None, account=NEW, relationship=Relationship(
        mine=Attribute.BLACK, is_muted=True, mutes_notices=True)), DEFAULT, SHOWN),
    (FOLLOW, facts(status=None, relationship=FOLLOWER), DEFAULT, SHOWN),
    (FOLLOW, facts(status=None), DEFAULT, HIDDEN),
    (FOLLOW, facts(relationship=Relationship(theirs=Attribute.WHISPER)), DEFAULT, HIDDEN),
    (REQUEST, facts(relationship=Relationship(theirs=Attribute.REQUESTED)), DEFAULT, SHOWN),
    (REQUEST, facts(relationship=Relationship(theirs=Attribute.REQUESTED_QUIETLY)),
     Policy(DROP), SHOWN),
    (REQUEST, facts(relationship=FOLLOWER), DEFAULT, HIDDEN),
    (MENTION, facts(relationship=Relationship(mine=Attribute.BLACK)), DEFAULT, HIDDEN),
    (MENTION, facts(relationship=Relationship(theirs=Attribute.BLACK)), DEFAULT, HIDDEN),
    (MENTION, facts(relationship=Relationship(is_muted=True)), DEFAULT, SHOWN),
    (MENTION, facts(relationship=Relationship(is_muted=True, mutes_notices=True)), DEFAULT, HIDDEN),
    (MENTION, facts(relationship=Relationship(is_muted=True, mutes_notices=True,
                                              muted_until_ms=NOW_MS)), DEFAULT, SHOWN),
    (MENTION, facts(account=LIMITED), DEFAULT, FILTERED),
    (MENTION, facts(account=LIMITED, relationship=FOLLOWED), DEFAULT, SHOWN),
    (MENTION, facts(account=LIMITED, is_permitted=True), DEFAULT, SHOWN),
    (MENTION, facts(status=DIRECT), DEFAULT, FILTERED),
    (MENTION, facts(status=DIRECT, relationship=FOLLOWED), DEFAULT, SHOWN),
    (MENTION, facts(status=ANSWER), DEFAULT, SHOWN),
    (MENTION, facts(), Policy(for_not_following=DROP), HIDDEN),
    (MENTION, facts(relationship=FOLLOWED), Policy(for_not_following=DROP), SHOWN),
    (MENTION, facts(), Policy(for_not_followers=Measure.FILTER), FILTERED),
    (MENTION, facts(relationship=FOLLOWER), Policy(for_not_followers=DROP), SHOWN),
    (MENTION, facts(), Policy(for_new_accounts=DROP), SHOWN),
    (MENTION, facts(account=NEW), Policy(for_new_accounts=DROP), HIDDEN),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].public} {case[3].name}")
def test_the_rules_of_a_notification(case):
    kind, known, policy, expected = case
    row = NotificationRow(first_id(NOW_MS) + kind, kind, ACTOR, ACTOR, 1296, NOW_MS)
    assert judge(row, OWNER, known, policy, NOW_MS) is expected


def test_the_example_of_an_id():
    assert first_id(1_800_000_000_000) + NotificationKind.FAVOURITE == 1_800_000_000_000_004
    assert kinds_of(1_800_000_000_000_004) == (FAVOURITE, NotificationKind.REACTION)
    assert kinds_of(1_800_000_000_000_000) == (NotificationKind.MODERATION_WARNING,)
    assert [kinds_of(one) for one in (0, -1, -10, 2**63 + 1)] == [()] * 4


def test_a_declared_reaction_has_the_digit_of_the_favourite():
    tick = 180_000_000_000_000
    for number in DECLARED:
        assert id_of(tick, number) == id_of(tick, FAVOURITE) == 1_800_000_000_000_004
        assert NotificationKind(number).public == "reaction"
        row = NotificationRow(id_of(tick, number), number, ACTOR, OWNER, 1296, NOW_MS)
        for grouped in (GROUPED_KINDS, ()):
            key = GroupKey.of(row, grouped)
            assert GroupKey.parse(key.text) == key
        assert GroupKey.of(row).text.startswith(f"reaction{number}-")
    assert GroupKey.parse("reaction-002821109908752-41667") is not None
    assert GroupKey.parse("reaction48-002821109908752-41667") is None


def test_a_group_has_one_post_and_half_a_day():
    def key(kind: NotificationKind, at_ms: int, moment: int = 1296) -> GroupKey:
        post = (0, 0) if kind is FOLLOW else (OWNER, moment)
        return GroupKey.of(NotificationRow(first_id(at_ms) + kind, kind, ACTOR, *post, at_ms))

    begin = 41_667 * SPAN_MS
    first = key(FAVOURITE, begin)
    assert first.text == "favourite-002821109908752-41667"
    assert first == key(FAVOURITE, begin + SPAN_MS - 1)
    others = (key(FAVOURITE, begin + SPAN_MS), key(FAVOURITE, begin, 1297), key(FOLLOW, begin))
    assert first not in others
    for one in (first, *others, key(MENTION, begin), key(WARNING, begin)):
        assert GroupKey.parse(one.text) == one
    assert first.ids.above < first_id(begin) + FAVOURITE < first.ids.below
