"""What models say of their kinds."""

from counters.kinds import DECLARED
from notifications.queries.actor_sources import KIND_OF_RESPONSE
from posts.models import RESPONSE_KINDS


def test_rows_of_responses_have_all_their_kinds():
    built_in = {kind.value: kind.name for kind in KIND_OF_RESPONSE if kind not in DECLARED}
    assert dict(RESPONSE_KINDS) == built_in
