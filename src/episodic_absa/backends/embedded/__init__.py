"""The embedded engine: answers every role by rule. It is not a language model and says so."""

from episodic_absa.backends.embedded.embedded_replier import ENGINE_NAME, EmbeddedReplier

__all__ = ["ENGINE_NAME", "EmbeddedReplier"]
