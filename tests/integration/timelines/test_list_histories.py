"""An account list's timeline after any history is what the oracle computes."""

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members, remove_members
from relations.lists.errors import NotFollowed
from relations.lists.types import RepliesPolicy
from tests.integration.timelines.account_lists import read_from_bottom, read_to_end
from tests.integration.timelines.drawn import examples, step_of
from tests.integration.timelines.indexed import lower_mark
from tests.integration.timelines.test_histories import History, person
from tests.oracle import author_of
from tests.world import clean, drain_all

policies = st.sampled_from(RepliesPolicy)
step = st.one_of(
    step_of("publish", person, st.integers(0, 2)),
    step_of("publish", person, st.integers(0, 2)),
    step_of("reply", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 50)),
    step_of("repost", person, st.integers(0, 50)),
    step_of("delete", person, st.integers(0, 50)),
    step_of("put_on", person),
    step_of("put_on", person),
    step_of("take_off", person),
    step_of("unfollow_by_owner", person),
    step_of("mute", person),
    step_of("read_roster"),
    step_of("read_roster"),
    step_of("drain"),
)


class RosterHistory(History):
    """The first person has an account list; the model is a set of people."""

    def __init__(self, policy, is_indexed):
        super().__init__()
        for alias in settings.SHARD_ALIASES if is_indexed else ():
            lower_mark(alias, 0)
        self.owner, self.policy = self.people[0], policy
        self.list_id = create_account_list(self.owner, "close", policy).list_id
        self.members, self.muted = set(), set()
        self.delivered: list[str] = []
        for other in range(1, len(self.people)):
            self.follow(self.owner, other)

    def put_on(self, account, _):
        """An account that is not followed is refused; then it is followed for the next time."""
        if account in self.oracle.following(self.owner):
            add_members(self.owner, self.list_id, [account])
            self.members.add(account)
            return
        with pytest.raises(NotFollowed):
            add_members(self.owner, self.list_id, [account])
        if account != self.owner:
            self.follow(self.owner, self.people.index(account))

    def take_off(self, account, _):
        remove_members(self.owner, self.list_id, [account])
        self.members.discard(account)

    def unfollow_by_owner(self, account, _):
        self.unfollow(self.owner, self.people.index(account))
        self.members.discard(account)

    def mute(self, account, _):
        if account != self.owner:
            mute(self.owner, account)
            self.muted.add(account)

    def expected(self):
        shown = {
            RepliesPolicy.LIST: self.members,
            RepliesPolicy.FOLLOWED: set(self.oracle.following(self.owner)),
            RepliesPolicy.NONE: set(),
        }[self.policy]
        return self.oracle.by(self.members - self.muted, {self.owner, *shown}, self.muted)

    def read_roster(self, _, __):
        """Before the drain posts may be late, but nothing may be shown that should not be."""
        shown = read_to_end(self.owner, self.list_id, 5)
        assert shown == sorted(set(shown), reverse=True)
        assert {author_of(post) for post in shown} <= self.members - self.muted
        assert set(self.delivered) <= set(shown), "a repost that has not arrived hides a post"

    def run(self, name, who, what):
        super().run(name, who, what)
        if name == "drain":
            self.delivered = self.expected()
        elif name not in ("publish", "reply", "repost", "read_roster"):
            self.delivered = []

    def check(self):
        drain_all()
        for limit in (1, 3, 40):
            assert read_to_end(self.owner, self.list_id, limit) == self.expected()
            assert read_from_bottom(self.owner, self.list_id, limit) == self.expected()


@examples(25)
@given(policies, st.booleans(), st.lists(step, max_size=40))
def test_it_is_what_the_oracle_says(each_index, policy, is_indexed, steps):
    clean()
    history = RosterHistory(policy, is_indexed)
    for one in steps:
        history.run(*one)
    history.check()
