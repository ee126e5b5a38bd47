"""The line of a call holds all of it, and its defaults cost nothing."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lab.faults.history.calls import (
    ClientCall,
    Seen,
    from_line,
    outcome_of,
    read_calls,
    to_line,
    write_calls,
)

ids = st.integers(0, 2**70)
entries = st.builds(Seen, ids, ids, ids, st.none() | ids)
calls = st.builds(
    ClientCall,
    client=st.integers(0, 99),
    account=ids,
    kind=st.sampled_from(["post", "follow", "home"]),
    began_s=st.floats(0, 1e6),
    ended_s=st.floats(0, 1e6),
    outcome=st.sampled_from(["ok", "failed", "unknown"]),
    status=st.integers(0, 599),
    target=st.none() | ids,
    made=st.none() | ids,
    key=st.text(),
    max_id=st.none() | ids,
    min_id=st.none() | ids,
    is_last=st.booleans(),
    seen=st.lists(entries).map(tuple),
    facts=st.dictionaries(st.text(), st.integers()),
)


@given(calls)
def test_a_line_holds_the_whole_call(call: ClientCall) -> None:
    assert from_line(to_line(call)) == call
    assert "\n" not in to_line(call)


def test_an_incomplete_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    call = ClientCall(1, 2, "post", 0.0, 0.0, "ok", 200, made=5)
    write_calls(path, [call, call])
    path.write_text(path.read_text() + to_line(call)[:20])
    assert list(read_calls(path)) == [call, call]


def test_an_answer_of_the_server_s_failure_proves_nothing() -> None:
    statuses = (200, 404, 429, 500, 503, 0)
    expected = ["ok", "failed", "failed", "unknown", "unknown", "unknown"]
    assert [outcome_of(status) for status in statuses] == expected
