"""trickformer: play, train, search and compare players of card games of imperfect information."""

from importlib.metadata import version

__version__ = version("trickformer")
