"""Ann with a post, and bob and cat who respond to it."""

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
def cat(people):
    from tests.callers import Caller  # noqa: PLC0415 - has models

    return Caller(people[2])


@pytest.fixture
def original(people):
    """Its public id."""
    from tests.world import publish  # noqa: PLC0415 - has models

    return publish(people[0], "the original").public
