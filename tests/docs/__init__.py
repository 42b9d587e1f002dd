"""Tests of the documentation: its generated pages, its pictures, its examples."""
