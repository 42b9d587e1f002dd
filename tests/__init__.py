"""Tests of s2s_actors and its statecharts."""
