"""What models say of their kinds."""

from notifications.queries.actor_sources import KIND_OF_RESPONSE
from posts.models import RESPONSE_KINDS


def test_rows_of_responses_have_all_their_kinds():
    assert dict(RESPONSE_KINDS) == {kind.value: kind.name for kind in KIND_OF_RESPONSE}
