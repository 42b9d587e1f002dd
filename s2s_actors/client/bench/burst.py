"""The scenario ``burst``: many ask at the same instant, or one shortly after the other.

What counts for the load is when questions end: from then on everybody waits. So it is the true
ends of speech that lie at one instant, or ``--stagger`` seconds apart; whoever has more to say
begins sooner. The next round begins when the last answer has played.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from s2s_actors.client.bench.turn_trials import clip_for, turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.rows import Place
    from s2s_actors.client.bench.scenario import Scenario

__all__ = ["burst"]


def burst(options: BenchOptions, clips: Sequence[Clip]) -> Scenario:
    """Ask as in ``turns``, all in one moment; session ``k`` is the one that ends in place ``k``."""
    longest_ms = max(clip.end_ms for clip in clips)

    def begins_s(place: Place) -> float:
        clip = clip_for(place, clips)
        return (longest_ms - clip.end_ms) / 1000.0 + place.session * options.stagger_s

    return replace(turns(options, clips), name="burst", begins_s=begins_s)
