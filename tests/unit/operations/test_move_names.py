"""Names of what a move makes on a server that tenants share."""

from operations.moves.types import stream_name


def test_a_slot_names_its_tenant(settings):
    """Slots are of the whole server, and moves are counted by each tenant."""
    assert stream_name(7) == "tideline_move_7"
    assert stream_name(7, is_back=True) == "tideline_move_7_back"
    settings.TENANT = "shop"
    assert stream_name(7) == "tideline_move_shop_7"
