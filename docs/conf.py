"""Configuration of Sphinx: ``make docs`` builds with every warning an error."""

from __future__ import annotations

from s2s_actors import __version__

project = "s2s_actors"
author = "the s2s_actors authors"
copyright = author  # the licence is Apache-2.0
release = version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"s2s_actors {release}"
