"""The version of Tideline: of the package, of the API's document, and in what instances say."""

VERSION = "0.1.0"
