"""What /metrics and the admin say of moves."""

import pytest
from django.core.management import call_command

from operations.moves.metrics import MovesCollector
from tests.integration.operations.staff import staff_of
from tests.moving import SOURCE, TARGET, make_movers, move
from tests.private_world import catch_up
from tests.server_faults import hanging
from tests.waiting import until
from tests.world import publish

pytestmark = pytest.mark.slow


@pytest.fixture
def mover(moving):
    (mover,) = make_movers(1)
    publish(mover, "hello")
    catch_up()
    return mover


def read_metrics():
    """Values by name and shard."""
    return {
        (sample.name, sample.labels.get("shard")): sample.value
        for family in MovesCollector().collect()
        for sample in family.samples
    }


def test_metrics_and_page_show_how_far_a_move_is(mover, moving):
    assert read_metrics() == {("tideline_moves_unfinished", None): 0}
    move()
    # A process with the map from before reads it again first.
    until(lambda: len(read_metrics()) == 6, said=read_metrics)
    shown = read_metrics()
    assert shown["tideline_moves_unfinished", None] == 1
    assert 0 <= shown["tideline_move_step_seconds", None] < 600
    assert shown["tideline_move_log_bytes", TARGET] > 0, "it keeps log for the way back"
    assert shown["tideline_move_log_bytes", SOURCE] == 0
    assert shown["tideline_move_lag_seconds", TARGET] >= 0
    operator = staff_of("operator")
    page = operator.get("/admin/moves/").content.decode()
    assert "is not finished" in page
    assert "keeps nothing" in page
    assert "way back prepared" in page
    with hanging(moving.postgres[TARGET]):
        assert f"{TARGET} does not answer" in operator.get("/admin/moves/").content.decode()
        assert ("tideline_move_log_bytes", TARGET) not in read_metrics()
    call_command("complete_move")
    assert read_metrics() == {("tideline_moves_unfinished", None): 0}
    page = operator.get("/admin/moves/").content.decode()
    assert "is not finished" not in page
    assert "complete, finished" in page
