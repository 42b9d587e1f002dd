"""Tests of s2s_actors.backends."""
