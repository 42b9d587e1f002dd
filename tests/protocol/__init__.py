"""The protocol core, played in memory."""
