"""`run --watch`: the difference of the first compared pair while the grid runs, with its confidence sequence."""

from episodic_absa.contrib.watch.watched_pair import WatchLine

__all__ = ["WatchLine"]
