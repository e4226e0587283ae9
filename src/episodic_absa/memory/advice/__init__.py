"""Turns retrieved episodes into advisories that hold no label and no text."""
