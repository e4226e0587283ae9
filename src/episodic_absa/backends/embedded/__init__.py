"""The embedded engine: the reader answers Stage1 and the referee, cues name risks, and everyone else keeps."""

from episodic_absa.backends.embedded.embedded_replier import ENGINE_NAME, EmbeddedReplier

__all__ = ["ENGINE_NAME", "EmbeddedReplier"]
