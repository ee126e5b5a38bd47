"""The demo community of `make run`. Its file is in the repository, its password is public."""

from pathlib import Path

from operations.demo.graphs import read_graph
from operations.demo.names import Naming
from operations.demo.publish import PostPlan
from operations.demo.types import Community

FILE = Path(__file__).with_name("data") / "community.edges.gz"
FIRST_ACCOUNTS = ("ann", "bob", "cyd")
PASSWORD = "tideline-demo"  # noqa: S105 - public; load_demo is for development only
# Posts over four days. The last one is three hours older than the load: then the scenes begin.
POSTS = PostPlan(total=260, seed=1, spread_s=4 * 86_400, end_s=3 * 3_600)
FOLLOW_CAP = 2_000


def demo_community() -> Community:
    """400 accounts and 4,295 follows. ann, bob and cyd are the best connected."""
    # load_graph accepts no name with a space, so it cannot use this one.
    naming = Naming("demo community", "", dict(enumerate(FIRST_ACCOUNTS)))
    return Community(read_graph(FILE, "edges", FOLLOW_CAP, None), naming)
