"""The pages with a theme of a product, and what the server says about a broken one."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.site_texts.models import SiteRule, SiteTexts
from lab.runner.child import CHECKOUT
from tests.browser.artifacts import ARTIFACTS, SHOTS
from tests.browser.axe import faults_of
from tests.browser.driving import Driven
from tests.browser.feeds import enter, make_named
from tests.browser.serving import running_site
from tests.browser.tab import DESKTOP, PHONE, Look, Size, Tab
from tests.other_process import environment_of_this_test
from tests.themes import make_theme
from tests.world import drain_all, publish

PAGES = ("/public", "/about", "/privacy", "/auth/sign_in", "/auth/sign_up")
STYLE = "getComputedStyle(document.querySelector({0!r})).{1}"


@pytest.fixture(scope="module")
def themed(
    databases: None, worker_id: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    theme = make_theme(tmp_path_factory.mktemp("theme"))
    ARTIFACTS.mkdir(exist_ok=True)
    environment = {"THEME_DIR": str(theme), "INSTANCE_TITLE": "Harbour"}
    log = ARTIFACTS / f"web-theme-{worker_id}.log"
    with running_site(log, environment=environment) as address:
        yield address


@pytest.fixture
def tab_there(world: None, browser: Driven, themed: str) -> Iterator[Callable[..., Tab]]:
    tabs: list[Tab] = []

    def make(size: Size = DESKTOP, **look: object) -> Tab:
        tabs.append(Tab(browser, themed, Look(size, **look)))
        return tabs[-1]

    yield make
    for tab in tabs:
        tab.close()
    assert [fault for tab in tabs for fault in tab.faults] == []


@pytest.fixture
def texts(world: None) -> None:
    site = SiteTexts.objects.create(
        summary="For all who love boats",
        run_by="Harbour Ltd, Quay 1, Port",
        email="help@harbour.example",
        about="## Boats\n\nWe have *many* boats.\n\n| size | count |\n|---|---|\n| small | 3 |",
        privacy="We keep little.\n\n- Your posts\n- Your follows",
    )
    SiteRule.objects.create(site=site, position=1, text="Be kind", hint="Also on Mondays")
    SiteRule.objects.create(site=site, position=2, text="No spam")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_colours_corners_font_logo_and_templates_are_the_products(
    texts: None, tab_there: Callable[..., Tab], size: Size
) -> None:
    tab = tab_there(size)
    tab.open("/auth/sign_in")
    tab.see("Part of Harbour", "Sign in to Harbour", "Data protection")
    assert tab.run(STYLE.format("form > button", "backgroundColor")) == "rgb(122, 31, 92)"
    assert tab.run(STYLE.format("form > button", "borderRadius")) == "2px"
    assert "serif" in tab.run(STYLE.format("body", "fontFamily"))
    assert "7a1f5c" in tab.run("fetch('/favicon.ico').then((one) => one.text())")
    logo = tab.run("fetch(document.querySelector('.brand img').src).then((one) => one.text())")
    assert "7a1f5c" in logo
    with tab.dark():
        assert tab.run(STYLE.format("form > button", "backgroundColor")) == "rgb(240, 163, 212)"


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_axe_finds_nothing_with_a_theme(
    texts: None, tab_there: Callable[..., Tab], size: Size
) -> None:
    ann = make_named("ann")
    publish(ann, "Boats #harbour")
    drain_all()
    tab = tab_there(size)
    found = {}
    for path in PAGES:
        tab.open(path)
        found[path] = faults_of(tab)
        assert tab.overflow_px() <= 0, path
        tab.shoot(SHOTS / f"theme-{path.strip('/').replace('/', '-')}-{size.width}.png")
    enter(tab, ann)
    for path in ("/", "/settings"):
        tab.open(path)
        found[f"signed in {path}"] = faults_of(tab)
        tab.shoot(SHOTS / f"theme-signed-in-{path.strip('/') or 'home'}-{size.width}.png")
    with tab.dark():
        tab.open("/about")
        tab.shoot(SHOTS / f"theme-about-dark-{size.width}.png")
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_pages_about_the_site_work_without_scripts(
    texts: None, tab_there: Callable[..., Tab]
) -> None:
    tab = tab_there(has_scripts=False)
    tab.open("/public")
    tab.follow("About")
    tab.see("Harbour Ltd", "Be kind", "Also on Mondays")
    tab.follow("Privacy policy")
    tab.see("We keep little.")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_guests_find_who_runs_the_site(
    texts: None, tab_there: Callable[..., Tab], size: Size
) -> None:
    tab = tab_there(size)
    tab.open("/public")
    tab._do(tab.find("a[href='/about']:visible").click())
    tab.see("Harbour Ltd")


def test_a_server_with_a_broken_theme_does_not_begin(databases: None, tmp_path: Path) -> None:
    make_theme(
        tmp_path,
        **{"templates/pages/acount.html": "", "templates/pages/about.html": "{% if %}"},
    )
    environment = environment_of_this_test() | {"THEME_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "web", "--port", "1"]
    ended = subprocess.run(
        command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "acount.html replaces no template" in ended.stderr
    assert "about.html, line 1: " in ended.stderr
    assert "Traceback" not in ended.stderr
