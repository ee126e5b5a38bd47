"""Who judges accounts and posts, why, and what came of it: reports, acts, appeals."""
