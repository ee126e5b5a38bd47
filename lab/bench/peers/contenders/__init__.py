"""The sides of the contenders. They must not import Tideline: its packages are not installed."""
