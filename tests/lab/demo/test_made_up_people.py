"""Names and texts: always the same, always allowed, never the same name twice."""

import re
from pathlib import Path

import pytest

from accounts.models import DISPLAY_NAME_LENGTH, USERNAME_LENGTH
from operations.demo.errors import GraphNameInvalid
from operations.demo.graph_file import MAX_NODE
from operations.demo.names import name_of_file, naming_of
from operations.demo.texts import SENTENCES, WORDS, made_up_text


def test_usernames_are_allowed_and_tell_the_node_and_the_graph():
    naming = naming_of("a2345678")
    for node in [0, 1, 17, MAX_NODE]:
        person = naming.person(node)
        assert re.fullmatch(r"[a-z]+" + f"{node}_a2345678", person.username)
        assert len(person.username) <= USERNAME_LENGTH
        assert 0 < len(person.display_name) <= DISPLAY_NAME_LENGTH
        assert person == naming_of("a2345678").person(node)


def test_names_look_different():
    names = {naming_of("g").person(node).display_name for node in range(1_000)}
    assert len(names) > 990


@pytest.mark.parametrize("name", ["", "nine_char", "ninechars", "Upper", "a b", "ä", "a_b", "x\n"])
def test_a_graph_name_is_short_and_plain(name):
    with pytest.raises(GraphNameInvalid):
        naming_of(name)


@pytest.mark.parametrize(
    ("file", "name"),
    [("nostr-social-graph.json.gz", "nostr"), ("socfb-Reed98.edges", "socfb"), ("___", "graph")],
)
def test_a_graph_is_called_as_its_file_begins(file, name):
    assert name_of_file(Path("/somewhere") / file) == name


def test_texts_are_short_repeatable_and_varied():
    texts = [made_up_text(str(seed)) for seed in range(2_000)]
    assert texts == [made_up_text(str(seed)) for seed in range(2_000)]
    assert max(map(len, texts)) < 200
    assert not any("{" in text for text in texts)
    assert len(set(texts)) > 1_000


def test_no_word_is_without_a_sentence():
    used = set(re.findall(r"\{(\w+)\}", " ".join(SENTENCES)))
    assert used == WORDS.keys()
