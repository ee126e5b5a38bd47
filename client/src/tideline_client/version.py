"""The version of the client. It follows the API, and not Tideline's own version."""

VERSION = "0.1.0"
