"""Generates what `tideline-client` says about the API from the OpenAPI document (`make accept`)."""
