"""Tests of the actor kit."""
