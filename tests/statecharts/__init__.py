"""Tests of the statecharts."""
