"""Keeps the answers of models, in memory, in a file or in a database, and sends equal requests once."""

from episodic_absa.backends.cache.caching_replier import CachingReplier, compute_request_key
from episodic_absa.backends.cache.response_cache import CacheStats, ResponseCache

__all__ = ["CacheStats", "CachingReplier", "ResponseCache", "compute_request_key"]
