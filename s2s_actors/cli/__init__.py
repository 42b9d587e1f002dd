"""The command line ``s2s-actors``; importing it imports no model library."""

from s2s_actors.cli.app import build_app, run

__all__ = ["build_app", "run"]
