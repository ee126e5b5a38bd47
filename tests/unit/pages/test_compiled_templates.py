"""Compiled templates on disk."""

from pathlib import Path
from types import CodeType

import pytest
from jinja2 import Environment, FileSystemLoader

from infra.languages import ENGLISH
from pages import compiled_templates as compiled
from pages.template_environment import PageEnvironment, page_environment

NAME = "page.html"


class Compiling:
    """How often templates were compiled, by environments like those of new processes."""

    def __init__(self, templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._templates = templates
        compile_source = PageEnvironment._compile

        def count(environment: PageEnvironment, source: str, filename: str) -> CodeType:
            self.count += 1
            return compile_source(environment, source, filename)

        monkeypatch.setattr(PageEnvironment, "_compile", count)

    def write(self, source: str) -> None:
        (self._templates / NAME).write_text(source)

    def draw(self, language: str = ENGLISH) -> str:
        return str(self._environment(language).get_template(NAME).render())

    def _environment(self, language: str) -> Environment:
        loader = FileSystemLoader(self._templates)
        return page_environment(language, loader=loader, autoescape=True)


@pytest.fixture
def folder(tmp_path, settings):
    settings.RUNTIME_DIR = str(tmp_path / "run")
    return tmp_path / "run/templates"


@pytest.fixture
def compiling(tmp_path, monkeypatch, folder):
    made = Compiling(tmp_path, monkeypatch)
    made.write('{{ "home"|icon }} {{ _("Home") }}')
    return made


def test_the_next_process_compiles_nothing(compiling):
    first = compiling.draw()
    assert (compiling.draw(), compiling.count) == (first, 1)


def test_each_language_has_its_own(compiling):
    drawn = [compiling.draw(language) for language in ("en", "de", "en", "de")]
    assert drawn[:2] == drawn[2:]
    assert drawn[0].endswith("Home")
    assert drawn[1].endswith("Startseite")
    assert compiling.count == 2


def test_a_changed_template_is_compiled(compiling):
    compiling.draw()
    compiling.write("changed")
    assert (compiling.draw(), compiling.count) == ("changed", 2)


@pytest.mark.parametrize("name", compiled.COMPILED_BY)
def test_a_changed_compiler_compiles_all(compiling, monkeypatch, name):
    compiling.draw()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == name))
    compiling.draw()
    assert compiling.count == 2


def test_changed_translations_compile_all(compiling, monkeypatch):
    compiling.draw("de")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.suffix == ".mo"))
    compiling.draw("de")
    assert compiling.count == 2


def test_a_damaged_file_is_written_again(compiling, folder):
    drawn = compiling.draw()
    [file] = folder.iterdir()
    whole = file.read_bytes()
    cut, torn = whole[:-20], whole[:100] + bytes(len(whole) - 100)
    for damaged in (b"", whole[:20], cut, torn, b"x" * 90):
        file.write_bytes(damaged)
        assert compiling.draw() == drawn
        assert compiling.draw() == drawn
    assert compiling.count == 6


@pytest.mark.parametrize("others_may_write", [".", ".."])
def test_a_folder_that_others_may_write_is_not_used(compiling, folder, others_may_write):
    drawn = compiling.draw()
    (folder / others_may_write).chmod(0o777)
    assert (compiling.draw(), compiling.count) == (drawn, 2)


def test_without_a_folder_pages_are_drawn(compiling, folder):
    folder.parent.write_text("a file")
    assert compiling.draw() == compiling.draw()
    assert compiling.count == 2


def test_a_full_disk_costs_only_time(compiling, folder, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert compiling.draw() == compiling.draw()
    assert compiling.count == 2
