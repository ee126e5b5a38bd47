"""Translations of posts, by a server of the operator that speaks LibreTranslate's API."""
