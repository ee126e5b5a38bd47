"""Kinds and their consumers: one payload a kind, and rows read as what they were written as."""

from typing import ClassVar

import msgspec
import pytest

from infra.changes.errors import KindTaken, UnknownKind
from infra.changes.registry import (
    Payload,
    consumers_of,
    consumes,
    inline_consumers_of,
    read_payload,
    registered_consumers,
)


class Grown(Payload, frozen=True):
    kind: ClassVar[str] = "tests.grown"

    size: int
    colour: str = "green"


class Shrunk(Payload, frozen=True):
    kind: ClassVar[str] = "tests.shrunk"


@consumes(Grown)
def first(alias, deliveries): ...


@consumes(Shrunk)
def second(alias, deliveries): ...


@consumes(Grown, Shrunk)
def third(alias, deliveries): ...


@consumes(Grown, inline=True)
def fourth(alias, deliveries): ...


@consumes(Shrunk, inline=True)
def fifth(alias, deliveries): ...


def test_payload_survives_the_trip():
    text = msgspec.json.encode(Grown(2**60, "grüß \U0001f701")).decode()
    assert read_payload("tests.grown", text) == Grown(2**60, "grüß \U0001f701")


def test_field_that_came_later_has_its_default_in_older_rows():
    assert read_payload("tests.grown", '{"size": 1}') == Grown(1, "green")


def test_field_that_is_gone_is_ignored_in_older_rows():
    assert read_payload("tests.shrunk", '{"size": 1}') == Shrunk()


@pytest.mark.parametrize("text", ["{}", '{"size": null}', '{"size": "1"}', "[]", "null", "{"])
def test_row_of_another_shape_is_refused(text):
    with pytest.raises(msgspec.DecodeError):
        read_payload("tests.grown", text)


def test_kind_nobody_declared_is_refused():
    with pytest.raises(UnknownKind, match=r"tests\.unheard_of"):
        read_payload("tests.unheard_of", "{}")


def test_kind_has_one_payload():
    with pytest.raises(KindTaken, match=r"tests\.grown"):

        class Again(Payload, frozen=True):
            kind: ClassVar[str] = "tests.grown"

    assert type(read_payload("tests.grown", '{"size": 1}')) is Grown


def test_consumers_are_called_in_the_order_they_were_declared():
    assert consumers_of("tests.grown") == [first, third, fourth]
    assert consumers_of("tests.shrunk") == [second, third, fifth]
    assert inline_consumers_of(["tests.grown"]) == [fourth]
    assert inline_consumers_of(["tests.shrunk"]) == [fifth]
    assert inline_consumers_of(["tests.shrunk", "tests.grown"]) == [fourth, fifth]
    here = [consumer for consumer in registered_consumers() if consumer.__module__ == __name__]
    assert here == [first, second, third, fourth, fifth]


def test_kind_nobody_consumes_has_no_consumers():
    assert consumers_of("tests.unheard_of") == []
