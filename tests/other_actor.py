"""A process that acts: `python -m tests.other_actor`, an act a line, printed again when it is done.

rename ACCOUNT · suspend ACCOUNT · favourite ACCOUNT AUTHOR MOMENT
"""

import sys

import django


def main() -> None:
    django.setup()
    for line in sys.stdin:
        word, *numbers = line.split()
        act(word, [int(number) for number in numbers])
        print(line, end="", flush=True)  # noqa: T201


def act(word: str, numbers: list[int]) -> None:
    from accounts.actions.update_profile import update_profile  # noqa: PLC0415 - needs the settings
    from accounts.types import ProfileEdit, Restriction  # noqa: PLC0415
    from posts.actions.mark_post import mark_post  # noqa: PLC0415
    from posts.ids import PostId  # noqa: PLC0415
    from posts.types import Kind  # noqa: PLC0415
    from tests.world import drain_all, restrict  # noqa: PLC0415

    if word == "rename":
        update_profile(numbers[0], ProfileEdit(display_name="Renamed"))
    elif word == "suspend":
        restrict(numbers[0], Restriction.SUSPENDED)
    else:
        account_id, author_id, moment = numbers
        mark_post(account_id, PostId.at(author_id, moment), Kind.FAVOURITE, True)
        drain_all()


if __name__ == "__main__":
    main()
