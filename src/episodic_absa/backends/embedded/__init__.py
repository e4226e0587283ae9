"""The embedded engine: answers every role by rule. It is not a language model and says so."""

from episodic_absa.backends.embedded.embedded_engine import ENGINE_NAME, EmbeddedEngine
from episodic_absa.backends.embedded.embedded_replier import EmbeddedReplier

__all__ = ["ENGINE_NAME", "EmbeddedEngine", "EmbeddedReplier"]
