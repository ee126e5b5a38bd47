"""What a person or a log sees of a job."""

import os
from io import StringIO

import pytest

from infra.jobs import progress
from infra.jobs.progress import Progress, duration


@pytest.fixture
def every_time(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0)
    monkeypatch.setattr(progress, "TERMINAL_EVERY_S", 0)


def test_plain_output_is_lines_without_control_characters(every_time):
    out = StringIO()
    shown = Progress(out, "load_graph", total=4_000)
    shown.advance(1_000, "shard0")
    shown.finish("done")
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
        shown.finish("done")
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
    shown.finish("done")
    assert out.getvalue().startswith("load_graph: 100 (")


def test_total_of_zero_divides_nothing():
    out = StringIO()
    Progress(out, "load_graph", total=0).finish("done")
    assert out.getvalue().startswith("load_graph: 0 (0/s)")


def shown_on_a_terminal(columns, monkeypatch, **options):
    monkeypatch.setenv("COLUMNS", str(columns))
    out = StringIO()
    out.isatty = lambda: True
    shown = Progress(out, "rebuild", **options)
    shown.advance(10, "shard0")
    return out.getvalue()


def test_bar_counts_what_earlier_runs_did(every_time, monkeypatch):
    line = shown_on_a_terminal(200, monkeypatch, total=40, before=10)
    assert "rebuild: [##########----------]  50% 20 of 40 (" in line
    assert line.endswith(" left) shard0")


def test_bar_is_full_when_there_was_more_than_thought(every_time, monkeypatch):
    line = shown_on_a_terminal(200, monkeypatch, total=5)
    assert "[####################] 100% 10 of 5 (" in line
    assert ", 0 s left)" in line


def test_line_fits_the_terminal(every_time, monkeypatch):
    line = shown_on_a_terminal(30, monkeypatch, total=40)
    assert len(line.removeprefix("\r\x1b[K")) == 29


def test_speed_is_of_this_run_alone(every_time, monkeypatch):
    now = [50.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = StringIO()
    shown = Progress(out, "rebuild", total=1_000, before=500)
    now[0] += 10
    shown.advance(100)
    assert out.getvalue() == "rebuild: 600 of 1,000 (10/s, 40 s left)\n"


def test_room_is_made_on_a_terminal_only(every_time):
    out = StringIO()
    Progress(out, "rebuild").make_room()
    assert out.getvalue() == ""
    out.isatty = lambda: True
    Progress(out, "rebuild").make_room()
    assert out.getvalue() == "\r\x1b[K"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (150, "2 min"), (7_000, "117 min"), (11_100, "3 h 05 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
