"""The command line ``s2s-actors``; importing it imports no model library."""

from s2s_actors.cli.app import build_app, run
from s2s_actors.cli.reference import cli_reference

__all__ = ["build_app", "cli_reference", "run"]
