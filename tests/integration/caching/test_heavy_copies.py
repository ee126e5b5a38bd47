"""A value that weighs more than its cache may hold is not kept, and nothing fails."""

from infra.caching.viewer_validators import ViewerCopies

VALIDATOR = b"12345678"
copies: ViewerCopies[bytes] = ViewerCopies(100, len)


def test_it_is_not_kept_and_the_copy_before_it_goes() -> None:
    copies.keep(1, VALIDATOR, b"x" * 60)
    copies.keep(2, VALIDATOR, b"x" * 40)
    copies.keep(1, VALIDATOR, b"x" * 101)
    assert copies.find(1, VALIDATOR) is None
    assert copies.find(2, VALIDATOR) == b"x" * 40


def test_one_that_just_fits_is_kept() -> None:
    copies.keep(1, VALIDATOR, b"x" * 100)
    assert copies.find(1, VALIDATOR) == b"x" * 100
