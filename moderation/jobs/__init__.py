"""The jobs behind the commands of moderation."""
