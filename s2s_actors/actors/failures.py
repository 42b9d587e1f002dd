"""Which stages fail, for the operator: in the log now and then, in the figures always."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from s2s_actors.runtime.sparse_log import SparseLog

if TYPE_CHECKING:
    from s2s_actors.actors.messages import StageFailed
    from s2s_actors.actors.tally import Tally
    from s2s_actors.runtime.clock import Clock

logger = logging.getLogger(__name__)


class Failures:
    """Tells of failures that are no crash of ours: a model says no, a server is away.

    Promises: the first failure of a stage is told at once; a backend that is dead for a hundred
    sessions is one line now and then; nothing of what was asked or answered is in it. Belongs to
    the pool's thread.

    Args:
        clock: The time.
        tally: Counts those that are the backend's.
    """

    def __init__(self, clock: Clock, tally: Tally) -> None:
        self._clock = clock
        self._tally = tally
        self._logs: dict[str, SparseLog] = {}

    def note(self, failed: StageFailed) -> None:
        """A stage tells of its failure."""
        stage, session_id = failed.stage, failed.lease.session_id
        text = "session %s: the %s stage failed: %s"
        if failed.blames_request:
            text = "session %s: the %s stage can't do what it was asked: %s"
        else:
            self._tally.stage_failed(stage)
        self._log(stage).tell(text, session_id, stage, failed.reason)

    def _log(self, stage: str) -> SparseLog:
        """One for each stage: none hides what happens to another."""
        if stage not in self._logs:
            self._logs[stage] = SparseLog(logger, self._clock.monotonic_s)
        return self._logs[stage]
