"""Account ids in text and in routes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.api.ids import MAX_ACCOUNT_ID, AccountIdConverter, parse_account_id


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
