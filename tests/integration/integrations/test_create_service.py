"""manage.py create_service: an application of the operator, with a token."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.callers import Caller, assert_refused
from tests.sign_ups import App, bearer

PATH = "/api/v1/services/events"
pytestmark = pytest.mark.usefixtures("world")


def create(name="Mirror", **options):
    out = StringIO()
    call_command("create_service", name, stdout=out, **options)
    return dict(line.split() for line in out.getvalue().splitlines())


def test_its_token_reads_the_change_feed_and_nothing_of_accounts():
    client, made = Client(), create()
    assert client.get(PATH, **bearer(made["token"])).status_code == 200
    for path in ("/api/v1/timelines/home", "/api/v1/accounts/verify_credentials"):
        assert client.get(path, **bearer(made["token"])).status_code in (403, 422)


def test_it_gets_another_token_with_its_secret():
    client, made = Client(), create()
    service = App(client, made["client_id"], made["secret"])
    token = service.own_token("service:changes")
    assert client.get(PATH, **bearer(token)).status_code == 200


def test_nobody_registers_one_over_http():
    form = {"client_name": "Spy", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}
    answer = Client().post("/api/v1/apps", form | {"scopes": "read service:changes"})
    assert_refused(answer, 422)
    app = App.register(Client(), "read")
    answer = app.ask_token(grant_type="client_credentials", scope="service:changes")
    assert answer.status_code == 400
    assert_refused(Caller(None, "read write follow push").get(PATH), 403)


def test_it_has_a_quota_of_its_own():
    client, made = Client(), create(quota=2)
    answers = [client.get(PATH, **bearer(made["token"])) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


@pytest.mark.parametrize("options", [{"quota": 0}, {"name": " "}, {"name": "x" * 61}])
def test_wrong_options_are_refused(options):
    with pytest.raises(CommandError):
        create(**options)
