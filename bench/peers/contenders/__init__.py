"""The peers' sides. Nothing in here imports Tideline: it has none of Tideline's packages."""
