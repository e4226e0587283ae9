"""The first analysis: aspects, polarities, structural risks."""
