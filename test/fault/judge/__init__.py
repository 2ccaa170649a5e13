"""Judges a run of chaos by its record alone. Shares no code with the library."""
