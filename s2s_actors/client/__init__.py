"""Clients: talk with a file or a microphone, watch the pool, run the demonstration."""
