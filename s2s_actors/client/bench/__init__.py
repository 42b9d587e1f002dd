"""The bench: puts load on any Realtime server and measures what a caller would feel."""
