"""Commands of two words: the first lists the second ones, and old names say the new ones."""

import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, get_commands

from config.old_commands import NEW_NAMES, refuse_old_name
from infra.verbs import DocumentedCommand, VerbCommand, list_verbs
from lab.reference.commands import command_names, load_command
from lab.runner.child import CHECKOUT

# Flags name the shards, which a process learns from the database before its first command.
pytestmark = pytest.mark.usefixtures("databases")
FIRST_WORDS = sorted({name.split()[0] for name in command_names() if " " in name})


def manage(*words):
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)


@pytest.mark.parametrize("words", [["audit_edges", "--repair"], ["help", "audit_edges"]])
def test_an_old_name_says_the_new_one_and_ends_with_1(words):
    ended = manage(*words)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "audit_edges is now: manage.py audit edges\n"


@pytest.mark.parametrize("old", NEW_NAMES)
def test_each_old_name_is_gone_and_its_new_one_is_there(old):
    assert old not in get_commands()
    with pytest.raises(SystemExit, match=f"^{old} is now: manage.py {NEW_NAMES[old]}$"):
        refuse_old_name(["manage.py", old])
    assert load_command(NEW_NAMES[old]).name == NEW_NAMES[old]


def test_the_loader_of_graphs_says_where_it_is():
    with pytest.raises(SystemExit, match=r"^load_graph is now: python -m lab\.graph$"):
        refuse_old_name(["manage.py", "load_graph"])


def test_names_of_today_are_not_refused():
    for name in command_names():
        refuse_old_name(["manage.py", *name.split()])


@pytest.mark.parametrize("word", FIRST_WORDS)
def test_help_of_a_first_word_names_what_it_is_for_with_a_sentence_each(word):
    said = load_command(word).create_parser("manage.py", word).format_help()
    for what, command in list_verbs(word).items():
        assert f"  {what} " in said
        assert command.help.partition(". ")[0].rstrip(".") in said


def test_no_command_of_two_words_is_without_its_first_one():
    def below(parent):
        return {parent, *(each for child in parent.__subclasses__() for each in below(child))}

    list_verbs("audit")  # loads them all
    two = {each.name for each in below(DocumentedCommand) if " " in each.name}
    assert two == {name for name in command_names() if " " in name}
    assert all(isinstance(load_command(word), VerbCommand) for word in FIRST_WORDS)


def test_help_and_errors_are_those_of_the_command_that_runs():
    said = manage("audit", "timelines", "--help")
    assert said.returncode == 0
    assert manage("help", "audit", "timelines").stdout == said.stdout
    assert said.stdout.startswith("usage: manage.py audit timelines [-h] [--json]")
    wrong = manage("audit", "timelines", "--share", "2")
    assert (wrong.returncode, "manage.py audit timelines: error: " in wrong.stderr) == (2, True)
    other = manage("audit", "posts")
    assert (other.returncode, "invalid choice: 'posts'" in other.stderr) == (2, True)


def test_a_program_calls_it_with_both_words(world):
    out = StringIO()
    call_command("audit", "counters", stdout=out)
    assert out.getvalue() == "0 accounts done, 0 failed\n"
    with pytest.raises(CommandError, match="--account is required"):
        call_command("accounts", "reset-relations")


def test_flags_of_django_before_the_second_word_hold_too(world):
    out = StringIO()
    call_command("shards", "--verbosity", "0", "show", stdout=out)
    assert out.getvalue().startswith("database ")
