"""Tests of the simulation, and of the server in it."""
