"""Walks the real actors through every order of things, as far as a budget goes."""
