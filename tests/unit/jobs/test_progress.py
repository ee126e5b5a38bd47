"""What a person or a log sees of a job."""

import os
from io import StringIO

import pytest

from infra.jobs import progress
from infra.jobs.progress import Progress


@pytest.fixture
def every_time(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0)
    monkeypatch.setattr(progress, "TERMINAL_EVERY_S", 0)


def test_plain_output_is_lines_without_control_characters(every_time):
    out = StringIO()
    shown = Progress(out, "load_graph", total=4_000)
    shown.advance(1_000, "shard0")
    shown.finish()
    first, last = out.getvalue().splitlines()
    assert first.startswith("load_graph: 1,000 of 4,000 (")
    assert first.endswith("s left) shard0")
    assert last.endswith(" done")
    assert out.getvalue().isprintable() is False  # line ends only
    assert "\r" not in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_terminal_line_is_rewritten_in_place(every_time):
    reader, writer = os.openpty()
    with open(reader, "rb", buffering=0) as seen, open(writer, "w") as terminal:
        shown = Progress(terminal, "load_graph")
        shown.advance(7)
        shown.advance(5)
        shown.finish()
        text = ""
        while not text.endswith("\n"):  # a terminal hands out as much as it likes
            text += seen.read(4_096).decode()
    assert text.count("\r\x1b[Kload_graph: ") == 3
    assert text.count("\n") == 1
    assert text.endswith(" done\r\n")
    assert "load_graph: 12 (" in text


def test_job_with_nothing_to_do_says_nothing_until_its_end(every_time):
    out = StringIO()
    shown = Progress(out, "compensate_changes")
    for _ in range(3):
        shown.advance(0, "shard0")
    assert out.getvalue() == ""


def test_steps_in_quick_succession_are_one_line():
    out = StringIO()
    shown = Progress(out, "load_graph")
    for _ in range(100):
        shown.advance(1)
    assert out.getvalue() == ""
    shown.finish()
    assert out.getvalue().startswith("load_graph: 100 (")


def test_total_of_zero_divides_nothing():
    out = StringIO()
    Progress(out, "load_graph", total=0).finish()
    assert out.getvalue().startswith("load_graph: 0 (0/s)")
