"""Asks models behind HTTP: addresses and keys, requests, what counts as an answer, retries and prices."""

from episodic_absa.backends.llm.llm_connection import cost_usd, open_connection
from episodic_absa.backends.llm.llm_replier import LlmReplier
from episodic_absa.backends.llm.llm_settings import LlmSettings

__all__ = ["LlmReplier", "LlmSettings", "cost_usd", "open_connection"]
