"""What the demo community shows besides made-up posts: photos, a poll, a thread, messages."""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("data") / "scenes.toml"


class ScenePhoto(NamedTuple):
    """A drawn photo. `hour`: of the day that it shows, which gives its colours."""

    hour: int
    description: str


class ScenePost(NamedTuple):
    """A post of the script. `name`: what later posts answer. `minutes_ago`: before the first run.

    `author`: a node of the graph. `favourites`, `reposts`, `votes`: how many followers of the
    author do it.
    """

    name: str
    author: int
    minutes_ago: float
    text: str
    answers: str = ""
    photos: Sequence[ScenePhoto] = ()
    options: Sequence[str] = ()
    warning: str = ""
    is_direct: bool = False
    favourites: int = 0
    reposts: int = 0
    votes: int = 0


@cache
def read_scenes() -> tuple[ScenePost, ...]:
    """The script, in the order of time."""
    with FILE.open("rb") as file:
        scenes = tomllib.load(file)["scene"]
    photos = [[ScenePhoto(**photo) for photo in scene.pop("photos", ())] for scene in scenes]
    return tuple(
        ScenePost(**scene, photos=drawn) for scene, drawn in zip(scenes, photos, strict=True)
    )
