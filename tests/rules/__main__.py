"""Prints each line that breaks a rule, and exits with 1 if there is one (`make check`)."""

import os
import sys
from collections.abc import Callable, Iterator

import django

from tests.rules.documents import dead_links, long_lines
from tests.rules.names import vague_names
from tests.rules.redis_reads import reads_outside_questions
from tests.rules.styles import SHEETS, literals
from tests.rules.tables import foreign_tables
from tests.rules.texts import CLIENT, DOCUMENTS, SCRIPTS, SOURCES, TEMPLATES, Fault, Text, texts_of
from tests.rules.words import hard_words_in_document, hard_words_in_source

FOR_SOURCES = (hard_words_in_source, reads_outside_questions, foreign_tables, vague_names)
FOR_CLIENT = (hard_words_in_source, vague_names)
FOR_DOCUMENTS = (dead_links, long_lines)


def faults(texts: Iterator[Text], *rules: Callable[[Text], Iterator[Fault]]) -> Iterator[Fault]:
    for text in texts:
        for rule in rules:
            yield from rule(text)


def main() -> int:
    django.setup()
    found = [
        *faults(texts_of(SOURCES), *FOR_SOURCES),
        *faults(texts_of(CLIENT), *FOR_CLIENT),
        *faults(texts_of(DOCUMENTS), *FOR_DOCUMENTS),
        *faults(texts_of(SHEETS), literals),
        *faults(texts_of([*DOCUMENTS, *TEMPLATES, *SCRIPTS]), hard_words_in_document),
    ]
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    os.environ.setdefault("DEVELOPMENT", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    sys.exit(main())
