"""Three accounts, two of them with a token, and a post of the first."""

import pytest


@pytest.fixture
def people(world):
    from tests.world import make_accounts  # noqa: PLC0415 - has models

    return make_accounts(3)


@pytest.fixture
def ann(people):
    from tests.callers import Caller  # noqa: PLC0415 - has models

    return Caller(people[0])


@pytest.fixture
def bob(people):
    from tests.callers import Caller  # noqa: PLC0415 - has models

    return Caller(people[1])


@pytest.fixture
def original(people):
    """Its public id."""
    from tests.world import publish  # noqa: PLC0415 - has models

    return publish(people[0], "the original").public
