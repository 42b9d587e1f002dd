"""Clients that people use, as their authors ship them, each against a whole scripted server."""
