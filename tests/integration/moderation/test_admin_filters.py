"""Filters of admin lists with values that no row can have."""

import pytest

from tests.integration.moderation.staff_pages import member

LISTS = {
    "operator": ("promotions/campaign/?kind", "jobs/jobrun/?state"),
    "moderator": ("moderation/appeal/?state", "moderation/report/?state"),
}


@pytest.mark.parametrize("group", LISTS)
def test_a_filter_with_a_nul_is_refused(world: None, group: str) -> None:
    browser = member(group, "mia")
    for path in LISTS[group]:
        for name in (path, f"{path}__exact"):
            answer = browser.get(f"/admin/{name}=%00")
            assert answer.status_code == 302, name
            assert answer["Location"].endswith("?e=1"), name
