"""The embedded engine: rules and small trained weights answer every role. It is not a language model."""

from episodic_absa.backends.embedded.embedded_engine import ENGINE_NAME, EmbeddedEngine
from episodic_absa.backends.embedded.embedded_reader import EmbeddedReader
from episodic_absa.backends.embedded.embedded_replier import EmbeddedReplier

__all__ = ["ENGINE_NAME", "EmbeddedEngine", "EmbeddedReader", "EmbeddedReplier"]
