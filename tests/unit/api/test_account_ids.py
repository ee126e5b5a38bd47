"""Account ids in text and in routes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import (
    MAX_ACCOUNT_ID,
    AccountIdConverter,
    parse_account_id,
    parse_account_ids,
)


@given(st.integers(1, MAX_ACCOUNT_ID))
def test_round_trip(account_id):
    assert parse_account_id(str(account_id)) == account_id
    converter = AccountIdConverter()
    assert converter.to_python(converter.to_url(account_id)) == account_id


TOO_BIG = [str(MAX_ACCOUNT_ID + 1), str(2**64), "9" * 5000]
NOT_DECIMAL = ["", "0", "-1", "+1", "1.0", " 1", "1_0", "٣", "²", "\x00", "1\x00", "\ud800"]


@pytest.mark.parametrize("text", [*TOO_BIG, *NOT_DECIMAL, None, 7, [], {}, True])
def test_what_cannot_name_an_account_is_none(text):
    assert parse_account_id(text) is None


def test_route_does_not_match_what_cannot_name_an_account():
    with pytest.raises(ValueError):
        AccountIdConverter().to_python("0")


@given(st.lists(st.integers(0, 30).map(str) | st.sampled_from(["", "x", "1" * 11, "-1", "²"])))
def test_lists_have_the_ids_of_their_texts_once_and_in_order(texts):
    ids = [found for text in texts if (found := parse_account_id(text))]
    assert parse_account_ids(texts) == list(dict.fromkeys(ids))
