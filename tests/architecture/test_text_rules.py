"""The rules of `make check` find what they forbid, and say in which line."""

from collections.abc import Callable, Iterator

import pytest

from tests.rules import __main__ as program
from tests.rules.documents import dead_links, long_lines
from tests.rules.names import vague_names
from tests.rules.redis_reads import reads_outside_questions
from tests.rules.styles import literals
from tests.rules.tables import foreign_tables, owners
from tests.rules.texts import ROOT, SOURCES, Fault, Text
from tests.rules.words import hard_words_in_document, hard_words_in_source

SOURCE = ROOT / "posts/queries/example.py"
NAMED = ROOT / "posts/actions/example.py"
DOCUMENT = ROOT / "docs/example.md"
COMMANDS = """
def size_command(week): return ("HLEN", week)
def is_too_large(replies: Replies): return replies[0] > 1
def _decode(replies: Replies): return replies[0]
def drop_command(week): return ("DEL", week)
"""

STYLES = """:root { --a: 4px; color: #fff }
/* -- the end of the scale -- */
b { padding: 0 3px; }
b { font-size: 1rem; }
b { font-weight: 600; }
b { border-radius: 5px; }
b { color: rgb(0 0 0 / .5); }
b { padding: var(--space-1); width: 3px; font-weight: var(--bold); border-radius: 50%; }
"""


@pytest.mark.parametrize(
    ("rule", "content", "lines"),
    [
        (hard_words_in_source, '"""Plain.\n\nFor whoever asks."""\n# nobody\nlay = 1\n', [3, 4]),
        (hard_words_in_source, "user = 'nobody'\n", []),
        (hard_words_in_document, "```\nanew\n```\nThe layout of `whom`\nis told anew", [5, 5]),
        (reads_outside_questions, COMMANDS, [2, 3]),
        (foreign_tables, '"posts_edge"\nSQL = "SELECT FROM relations_forwardedge"\n', [2]),
        (foreign_tables, '"""Of relations_forwardedge."""\nSQL = "SELECT FROM posts_post"\n', []),
        (vague_names, "for rest in a: ...\nx = rest\ndef find(one): return b.found\n", [1, 3]),
        (literals, STYLES, [3, 4, 5, 6, 7]),
        (dead_links, "\n[a](/no.md) [b](how-to/run.md) [c](https://a.b) [d](#no)", [2, 2]),
        (long_lines, "a\n" + "b" * 111 + "\n```\n" + "c" * 111 + "\n```\n|" + "d" * 111, [2]),
    ],
)
def test_a_rule_says_which_lines_break_it(
    rule: Callable[[Text], Iterator[Fault]], content: str, lines: list[int]
) -> None:
    path = {dead_links: DOCUMENT, long_lines: DOCUMENT, vague_names: NAMED}.get(rule, SOURCE)
    assert [fault.line for fault in rule(Text(path, content))] == lines


def test_the_rules_look_at_the_whole_product() -> None:
    assert len(SOURCES) > 300
    assert {"posts_post", "relations_forwardedge", "counters_counter"} <= owners().keys()


def test_the_program_names_file_line_and_fault(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "bad.py").write_text("\n# Told anew\n")
    monkeypatch.setattr(program, "SOURCES", [tmp_path / "bad.py"])
    monkeypatch.setattr(program, "DOCUMENTS", [])
    assert program.main() == 1
    assert capsys.readouterr().out.startswith(f'{tmp_path}/bad.py:2: "anew" makes')
