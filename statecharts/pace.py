"""The way from the end of a turn's speech to the first sound of its answer."""

from __future__ import annotations

from statemachine import State

from statecharts.base import StrictChart


class PaceChart(StrictChart):
    """What a user who has stopped speaking waits for, one thing at a time.

    First for the silence that ends the turn (settling), then for the transcript
    (recognizing), for all else that the answer depends on (preparing), for the first word
    (thinking), for a whole sentence (writing) and for its sound (voicing).

    Promises: every moment belongs to exactly one state, and no state on the way is left out,
    so the times spent in them add up to the wait. Work that was done ahead of its turn
    changes nothing here: its owner reports it when its state is entered, which is left
    at once. Once answered or unanswered, it is over.

    {statechart:rst}
    """

    settling = State("settling", initial=True)
    recognizing = State("recognizing")
    preparing = State("preparing")
    thinking = State("thinking")
    writing = State("writing")
    voicing = State("voicing")
    answered = State("answered", final=True)
    unanswered = State("unanswered", final=True)

    settled = settling.to(recognizing)
    heard = recognizing.to(preparing)
    ready = preparing.to(thinking)
    word = thinking.to(writing, cond="is_spoken") | thinking.to(answered)
    sentence = writing.to(voicing)
    sound = voicing.to(answered)
    # What was begun turns out to be of no use: the way starts again behind the silence.
    retract = (
        preparing.to(recognizing)
        | thinking.to(recognizing)
        | writing.to(recognizing)
        | voicing.to(recognizing)
    )
    give_up = (
        settling.to(unanswered)
        | recognizing.to(unanswered)
        | preparing.to(unanswered)
        | thinking.to(unanswered)
        | writing.to(unanswered)
        | voicing.to(unanswered)
    )

    def is_spoken(self, *, spoken: bool) -> bool:
        """Whether the answer is to be heard: one that is read begins with its first word."""
        return spoken
