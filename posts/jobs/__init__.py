"""The jobs behind the commands of posts."""
