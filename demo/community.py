"""The demo community that `make run` starts with: shipped with the code, with a known password."""

from pathlib import Path

from demo.graphs import read_graph
from demo.names import Naming
from demo.publish import PostPlan
from demo.types import Community

FILE = Path(__file__).with_name("data") / "community.edges.gz"
FIRST_ACCOUNTS = ("ann", "bob", "cyd")
PASSWORD = "tideline-demo"  # noqa: S105 - shown to everybody; load_demo is for development only
# Four days of posts, the last one as the community is loaded.
POSTS = PostPlan(total=300, seed=1, spread_s=4 * 86_400)
FOLLOW_CAP = 2_000


def demo_community() -> Community:
    """400 accounts and 4,295 follows; ann, bob and cyd are the best connected."""
    # A name that load_graph cannot be given, so the two never meet.
    naming = Naming("demo community", "", dict(enumerate(FIRST_ACCOUNTS)))
    return Community(read_graph(FILE, "edges", FOLLOW_CAP, None), naming)
