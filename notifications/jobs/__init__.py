"""The jobs behind the commands of notifications."""
