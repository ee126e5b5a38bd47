"""The worst values of each kind, in every parameter and field of the OpenAPI document.

Schemathesis draws what the schema forbids. Here is what no schema names: text that is no text,
numbers beyond all columns, deep and long JSON, names sent twice. No answer is an error of ours,
costs much CPU or is long, and a text that was accepted is in the answer.
"""

import re
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson
import pytest

from tests.callers import Caller
from tests.contract.roles import Scene
from tests.contract.test_injection import (
    PLACEHOLDER,
    Injection,
    Operation,
    operations,
    unbounded,
)

__all__ = ["unbounded"]
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
# In paths, queries and forms.
TEXTS = [
    "x" * 20_000, "a\x00b", "\uff11\uff12", "\u202e\u200f1", "-1", "-0", "+1", "NaN", "1e400",
    "9" * 400, str(2**63), str(2**64), " ", "\u200b", "2026-02-30T25:61:00Z", "0000-00-00",
    "9999-12-31T23:59:59.999999-23:59", "\U0001f469\u200d\U0001f4bb", "a" + "\u0301" * 300,
    "%", "{0}{{7*7}}", "../../etc/passwd", "lone %ed%a0%80",
]  # fmt: skip
# What JSON can say, as it is sent: what is never a value, and what may be one.
NEVER = [
    rb'"\ud800"', rb'"\udc00\ud800"', rb'"\u0000"', b"NaN", b"1e400", b"9" * 5_000,
    b"[" * 500 + b"]" * 500, b'{"a":' * 500 + b"1" + b"}" * 500,
]  # fmt: skip
SOMETIMES = [
    b"-0.0", b"0.5", str(2**64).encode(), str(-(2**63) - 1).encode(), b"true", b"null", b"[]",
    b"{}", b"[null]", b'{"":{"":[]}}', b'{"0":{"-1":1}}', b"[" + b"1," * 9_999 + b"1]",
    b"[" + b'"a",' * 9_999 + b'"a"]', orjson.dumps({str(n): n for n in range(5_000)}),
]  # fmt: skip
# The longest URL that a server takes.
MOST_URL = 8_000
MOST_CPU_S, MOST_BYTES = 0.5, 100_000
# Ids of nothing are left out of an answer, and there are no other servers to forward to.
LEFT_OUT = {
    "POST /api/v1/accounts/followed_by id", "POST /api/v1/reports forward",
    "POST /api/v1/services/external_ids account_ids",
    "POST /api/v1/services/external_ids external_ids",
}  # fmt: skip


class Sent(NamedTuple):
    """`where`: the name of the place. `is_never`: no answer accepts it. `text`: of a form; who
    accepts it shows it."""

    where: str
    path: str
    body: bytes
    kind: str = JSON
    is_never: bool = False
    text: str = ""


class Bombardment(Injection):
    """Each operation by itself, with one of the values in one place."""

    def requests(self, operation: Operation) -> Iterator[Sent]:
        right, body = self.path(operation, {}), orjson.dumps(self.body(operation))
        for text in TEXTS:
            for name in PLACEHOLDER.findall(operation.path):
                yield Sent(name, self.path(operation, {name: text[: MOST_URL // 3]}), body)
        for name in operation.queries:
            for query in queries(name):
                yield Sent(name, f"{right}?{query[:MOST_URL]}", body)
        for name in operation.fields:
            for raw in (*NEVER, *SOMETIMES):
                yield Sent(name, right, with_field(body, name, raw), is_never=raw in NEVER)
        for name in (*operation.fields, *operation.inner):
            for text in TEXTS:
                form = self.form(operation) | {name: text}
                yield Sent(name, right, urlencode(form, True).encode(), FORM, text=text)

    def form(self, operation: Operation) -> dict[str, Any]:
        """Of the body, what forms can send."""
        simple = (str, int, bool)
        return {k: v for k, v in self.body(operation).items() if isinstance(v, simple)}


def queries(name: str) -> Iterator[str]:
    bare = name.removesuffix("[]")
    yield from (urlencode({name: text}) for text in TEXTS)
    yield f"{bare}=1&{bare}[]=2&{bare}[0]=3&{bare}[a][b]=4"
    yield f"{quote(name)}=%ff%ed%a0%80"
    yield "&".join([f"{quote(name)}=1"] * 900)


def with_field(body: bytes, name: str, raw: bytes) -> bytes:
    fields = {other: value for other, value in orjson.loads(body).items() if other != name}
    rest = orjson.dumps(fields)[1:-1]
    return b"{" + rest + (b"," if rest else b"") + orjson.dumps(name) + b":" + raw + b"}"


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from texts_in(each)
    elif isinstance(value, str):
        yield unescape(re.sub("<[^>]*>", "", value))


def callers_of(scene: Scene, operation: Operation) -> Iterator[Any]:
    """Who has the things, and who does something with another person."""
    if "/services/" in operation.path:
        yield scene.client("service")
        return
    yield Caller(scene.owner, "read write follow push").client
    if "{account_id}" in operation.path:
        yield scene.client("other")


@pytest.mark.slow
def test_no_value_breaks_an_endpoint_or_is_lost(world: None, unbounded: None) -> None:
    scene, answered = Scene("owner"), Counter[int]()
    for operation in sorted(operations(), key=lambda o: (o.method == "DELETE", o.path, o.method)):
        for client in callers_of(scene, operation):
            bombardment = Bombardment(scene, client)
            for sent in bombardment.requests(operation):
                begun = time.thread_time()
                answer = bombardment.send(operation, sent.path, sent.body, sent.kind)
                fault = find_fault(f"{operation.method} {operation.path}", sent, answer)
                assert not fault, (fault, operation, sent, answer.content[:1_000])
                assert time.thread_time() - begun < MOST_CPU_S, (operation, sent)
                answered[answer.status_code] += 1
    assert all(answered[status] > 1_000 for status in (200, 400, 404, 422)), answered


def find_fault(name: str, sent: Sent, answer: Any) -> str:
    """Empty if the answer may be so."""
    if answer.status_code >= 500 or answer.status_code == 429:
        return f"status {answer.status_code}"
    if len(answer.content) > MOST_BYTES:
        return "the answer is long"
    if answer.status_code >= 300 or f"{name} {sent.where.removesuffix('[]')}" in LEFT_OUT:
        return ""
    shown = " ".join(texts_in(orjson.loads(answer.content))).casefold()
    is_shown = sent.text.strip().casefold() in shown
    return "it was accepted" if sent.is_never else "" if is_shown else "the text is lost"
