"""Configuration of Sphinx: ``make docs`` builds with every warning an error."""

from __future__ import annotations

from s2s_actors import __version__

project = "s2s_actors"
author = "the s2s_actors authors"
copyright = author  # the licence is Apache-2.0
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "examples"]
nitpicky = True
# Types of other projects, whose documentation is not at hand when this is built.
nitpick_ignore_regex = [
    ("py:.*", r"(np|numpy|collections)\..*"),
    ("py:.*", r"(NDArray|Iterator|Mapping|Callable)"),
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

add_module_names = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_title = f"s2s_actors {release}"
