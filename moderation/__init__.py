"""Reports about accounts and posts, the decisions of moderators, and appeals against decisions."""
