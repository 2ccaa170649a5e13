"""Faults injected into real masters, workers and links: the runner behind cluster-scripts/chaos."""
