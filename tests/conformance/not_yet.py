"""Checks that this project's own server is known to fail, each with the reason.

They are strict: a check that passes has to be taken off the list.
"""

from __future__ import annotations

NOT_YET: dict[str, str] = {}
