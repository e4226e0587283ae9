"""The embedded engine: answers every role by rule. It is not a language model and says so."""
