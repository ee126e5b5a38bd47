"""Values of the second step."""

from typing import Any, NamedTuple


class Code(NamedTuple):
    """What a person typed: six digits of an app, or a recovery code."""

    text: str


class PasskeyAnswer(NamedTuple):
    """What a browser answered. `state`: of the question, which is asked once."""

    state: dict[str, Any]
    text: str


class PasskeyQuestion(NamedTuple):
    """`options`: JSON for the browser. `state`: what checks the answer, and stays on the server."""

    options: str
    state: dict[str, Any]


Proof = Code | PasskeyAnswer
