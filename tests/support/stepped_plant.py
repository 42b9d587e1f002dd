"""A whole process of actors, run by hand: pool, units and stages, but no threads.

The actors are those that the real wiring builds. Only their threads are missing: whoever
holds the plant decides which of the actors handles its next message, so that any schedule
can be played, and played again.
"""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict, deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self
from unittest import mock

import msgspec
import numpy as np
import pykka

from s2s_actors.actors import messages as m
from s2s_actors.actors.board import Board
from s2s_actors.actors.conversation import ConversationRules
from s2s_actors.actors.pool import PoolActor, PoolRules
from s2s_actors.actors.ports import ClaimReply, Granted
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.actors.wiring import Plant
from s2s_actors.backends.base import ModelInfo, Models, Transcript
from s2s_actors.backends.chat import Finished, TextDelta
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol.items import InputText, Message
from s2s_actors.runtime.actor import Actor
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.mailbox import Control
from s2s_actors.runtime.reply import ReplyPort
from tests.support.stepping import is_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import Call, Kind, SttRequest, TtsRequest
    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.protocol.client_events import ClientEvent

STAGES = ("conversation", "vad", "stt", "llm", "tts")
TTS_RATE_HZ = 24_000


class Mischief:
    """What the models do besides their work: a queue of surprises for each kind."""

    def __init__(self) -> None:
        self._surprises: dict[str, deque[Callable[[], None]]] = defaultdict(deque)

    def plan(self, kind: Kind, surprise: Callable[[], None]) -> None:
        """Let the next call of a model do that in its middle: raise, or let others go on."""
        self._surprises[kind].append(surprise)

    def forget(self) -> None:
        """Let everything go right from now on."""
        self._surprises.clear()

    def befall(self, kind: Kind) -> None:
        """The middle of a call."""
        if self._surprises[kind]:
            self._surprises[kind].popleft()()


class _Fake:
    """What the fakes share: whatever they say names the session that it is for."""

    kind: Kind

    def __init__(self, mischief: Mischief | None = None) -> None:
        self.mischief = mischief or Mischief()

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(id="fake", kind=self.kind, backend="fake", source="tests")

    def warm_up(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to free."""


class FakeVad(_Fake):
    """Any frame louder than a whisper is speech."""

    kind: Kind = "vad"
    sample_rate_hz = 16_000
    frame_samples = 512

    def open_stream(self, session_id: str) -> FakeVad:
        del session_id
        return self

    def probability(self, frame: NDArray[np.float32]) -> float:
        self.mischief.befall("vad")
        return 1.0 if float(np.abs(frame).max()) > 0.05 else 0.0

    def reset(self) -> None:
        """Nothing was kept."""


class FakeStt(_Fake):
    """Hears the name of the session in every utterance."""

    kind: Kind = "stt"

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        del request
        self.mischief.befall("stt")
        return Transcript(f"{call.session_id} asks")


class FakeLlm(_Fake):
    """Answers with the name of the session, and repeats the last words that it has read."""

    kind: Kind = "llm"

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        yield TextDelta(f"{call.session_id} hears: ")
        self.mischief.befall("llm")
        yield TextDelta(f"{request.messages[-1].text}.")
        yield Finished("stop", 3, 2)


class FakeTts(_Fake):
    """Speaks at the level of the session: every sample of it is the same."""

    kind: Kind = "tts"
    sample_rate_hz = TTS_RATE_HZ

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        del request
        chunk = np.full(TTS_RATE_HZ // 100, level_of(call.session_id), "<i2").tobytes()
        yield chunk
        self.mischief.befall("tts")
        yield chunk


class FakeTurn(_Fake):
    """Takes every pause for the end."""

    kind: Kind = "turn"
    sample_rate_hz = 16_000
    window_samples = 8 * 16_000

    def completeness(self, audio: NDArray[np.float32]) -> float:
        del audio
        self.mischief.befall("turn")
        return 1.0


def level_of(session_id: str) -> int:
    """The level at which a session's voice speaks."""
    return 1000 + 100 * (zlib.crc32(session_id.encode()) % 200)


class Poison(Control):
    """A message that no actor knows: it takes down whoever handles it."""


class Client:
    """A client and its connection: asks for a unit, keeps what it is sent, leaves."""

    def __init__(self, session_id: str, pool: Actor) -> None:
        self.session_id = session_id
        self.frames: list[bytes] = []
        self.farewells: list[tuple[int, str]] = []
        self.left = False
        self.reply: ReplyPort[ClaimReply] = ReplyPort()
        self._pool = pool

    # --- what the actors know of it -----------------------------------------------------

    def send(self, frame: bytes) -> None:
        if self.closed is None and not self.left:
            self.frames.append(frame)

    def close(self, code: int, reason: str) -> None:
        self.farewells.append((code, reason))

    # --- what a test does -----------------------------------------------------------------

    @property
    def closed(self) -> int | None:
        """The code with which the server closed the connection; the first one counts."""
        return self.farewells[0][0] if self.farewells else None

    @property
    def answer(self) -> ClaimReply | None:
        """What became of the claim, None while that is open."""
        future = self.reply.future
        return future.result() if future.done() and not future.cancelled() else None

    @property
    def granted(self) -> Granted | None:
        """The grant, if there is one."""
        return self.answer if isinstance(self.answer, Granted) else None

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it was sent."""
        return [msgspec.json.decode(frame) for frame in self.frames]

    @property
    def types(self) -> list[str]:
        """The types of what it was sent."""
        return [event["type"] for event in self.events]

    @property
    def status(self) -> str | None:
        """How its last response ended."""
        done = [e["response"]["status"] for e in self.events if e["type"] == "response.done"]
        return done[-1] if done else None

    def claim(self) -> Client:
        """Ask for a unit."""
        self._pool.outlet.put(m.Claim(self.session_id, self, self.reply))
        return self

    def say(self, *events: ClientEvent) -> None:
        """Send events, as far as there is still someone to send them to."""
        if self.granted is None or self.left:
            return
        for event in events:
            self.granted.inlet.put(m.ClientFrame(self.granted.lease, event, 0.0, 100))

    def ask(self, text: str = "hello") -> None:
        """Ask something in writing."""
        self.say(text_item(text), ce.ResponseCreate())

    def leave(self) -> None:
        """Go, as a connection does it: give back what was granted, or the claim."""
        self.left = True
        answer = self.reply.withdraw()
        if answer is None:
            self._pool.outlet.put(m.CancelClaim(self.session_id))
        elif isinstance(answer, Granted):
            answer.unit.put(m.EndSession(answer.lease, "the client left"))

    def foreign_words(self) -> list[str]:
        """Whatever came to this client and is not its own."""
        found = []
        for event in self.events:
            text = msgspec.json.encode(event).decode()
            found += [
                word
                for word in text.replace('"', " ").split()
                if "canary" in word and not word.startswith(self.session_id)
            ]
            if event["type"] == "response.output_audio.delta":
                samples = np.frombuffer(base64.b64decode(event["delta"]), "<i2").astype(int)
                off = int(np.abs(samples - level_of(self.session_id)).max(initial=0))
                if off > 50:
                    found.append(f"a voice that is off by {off}")
        return found


class SteppedPlant:
    """Builds a pool, its units and their stages, and runs them message by message.

    Use it as a context manager: on exit the pool is stopped, and everything must be gone.

    Args:
        rules: How many units there are, and how the pool treats who gets none.
        serving: Whether the doors are open; if not, :meth:`open_doors` opens them.
    """

    def __init__(
        self,
        rules: PoolRules | None = None,
        *,
        timings: UnitTimings | None = None,
        serving: bool = True,
    ) -> None:
        self.clock = ManualClock()
        self.board = Board()
        self.mischief = Mischief()
        self.wedged: set[str] = set()
        """Names of actors that are not stepped, until they have been replaced."""
        self.threads_left = 1_000_000
        """How many more actors can be started."""
        self._serving = serving
        self._born: list[Actor] = []
        self._actors: list[Actor] = []
        self._busy: list[Actor] = []
        self._stack = ExitStack()
        fakes = self.mischief
        self.plant = Plant(
            models=Models(
                FakeVad(fakes), FakeStt(fakes), FakeLlm(fakes), FakeTts(fakes), FakeTurn(fakes)
            ),
            around=Surroundings(self.board, self.clock),
            pool_rules=rules or PoolRules(1),
            timings=timings or UnitTimings(),
            conversation=ConversationRules("fake", "Be brief.", 3600.0),
        )

    def __enter__(self) -> Self:
        def start(actor: Actor) -> None:
            self._adopt(actor)

        self._stack.enter_context(mock.patch.object(Actor, "_start_actor_loop", start))
        self.plant.start_pool()
        self.pool = self._actors[0]
        self.run()
        if self._serving:
            self.open_doors()
        return self

    def __exit__(self, failure: object, *rest: object) -> None:
        try:
            self.pool.outlet.stop()
            self.wedged.clear()
            self.run()
            left = [actor.name for actor in self.live]
        finally:
            self._stack.close()
            for actor in self.live:  # so that only the test at fault fails
                pykka.ActorRegistry.unregister(actor.actor_ref)
        assert failure is not None or left == []

    def _adopt(self, actor: Actor) -> None:
        if self.threads_left <= 0:
            # What Actor does when the system has no thread to give.
            actor.actor_stopped.set()
            pykka.ActorRegistry.unregister(actor.actor_ref)
            raise RuntimeError("can't start new thread")
        self.threads_left -= 1
        self._born.append(actor)
        self._actors.append(actor)

    # --- who is there ---------------------------------------------------------------------

    @property
    def live(self) -> list[Actor]:
        """Actors that have not stopped, oldest first."""
        self._actors = [actor for actor in self._actors if not actor.actor_stopped.is_set()]
        return list(self._actors)

    def actor(self, name: str) -> Actor:
        """The live actor of that name, such as ``pool``, ``unit-0`` or ``tts-0``."""
        (found,) = [actor for actor in self.live if actor.name == name]
        return found

    def state(self, unit: int = 0) -> str:
        """Where a unit is in its life cycle."""
        return self.board.units()[unit].state

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What the pool has given out."""
        assert isinstance(self.pool, PoolActor)
        return self.pool._allocation.leases

    @property
    def capacity(self) -> int:
        """Units that the pool knows of: idle ones and those on lease."""
        assert isinstance(self.pool, PoolActor)
        idle, held = list(self.pool._allocation._idle), [lease.unit for lease in self.leases]
        assert len(set(idle + held)) == len(idle + held), "a unit is idle and held at once"
        return len(idle + held)

    # --- running it ------------------------------------------------------------------------

    @property
    def ready(self) -> list[Actor]:
        """Actors that have something to do and may do it."""
        return [
            actor
            for actor in self.live
            if actor not in self._busy
            and actor.name not in self.wedged
            and (actor in self._born or not is_idle(actor))
        ]

    def step(self, actor: Actor) -> None:
        """Let one actor do the next thing, which may be to start."""
        self._busy.append(actor)
        try:
            if actor in self._born:
                self._born.remove(actor)
                actor.on_start()
            else:
                actor._handle_receive(actor.actor_inbox.get().message)
        finally:
            self._busy.remove(actor)

    def run(self, choices: Sequence[int] = ()) -> None:
        """Step actors as chosen, and then in turn until nobody has anything left to do."""
        self.run_some(choices)
        steps = 0
        while ready := self.ready:
            for actor in ready:
                if actor in self.ready:
                    self.step(actor)
            steps += 1
            assert steps < 10_000, "the actors never come to rest"

    def run_some(self, choices: Sequence[int]) -> None:
        """Step actors as chosen, and leave the rest for later."""
        for choice in choices:
            if ready := self.ready:
                self.step(ready[choice % len(ready)])

    def advance(self, seconds: float) -> None:
        """Let time pass, in one go, and let everyone act on it."""
        self.clock.advance(seconds)
        self.run()

    # --- clients and accidents ---------------------------------------------------------------

    def open_doors(self) -> None:
        """The models are loaded."""
        self.pool.outlet.put(m.ServerReady(ReplyPort()))
        self.run()

    def client(self, name: str) -> Client:
        """Someone who wants to talk; the name is in everything that is said to them."""
        return Client(f"canary-{name}", self.pool)

    def visit(self, name: str) -> Client:
        """A client that has got its unit."""
        client = self.client(name).claim()
        self.run()
        assert client.granted is not None, client.answer
        return client

    def crash(self, name: str) -> None:
        """Take one actor down in the middle of whatever it was about to do, if it is there."""
        found = [actor for actor in self.live if actor.name == name]
        if not found:
            return
        (actor,) = found
        if actor in self._born:
            self.step(actor)
        actor.on_receive(Poison())
        assert actor.actor_stopped.is_set()


def text_item(text: str) -> ce.ItemCreate:
    """Something that the user writes."""
    return ce.ItemCreate(item=Message(role="user", content=(InputText(text=text),)))


def append(pcm: bytes) -> ce.AudioAppend:
    """Something that the user says: PCM at 24 kHz."""
    return ce.AudioAppend(audio=base64.b64encode(pcm).decode())


def loud(length_ms: int) -> bytes:
    """What the fake takes for speech (24 kHz PCM)."""
    one_ms = np.repeat(np.array([9000, -9000], "<i2"), 12)
    return np.tile(one_ms, length_ms).tobytes()


def silent(length_ms: int) -> bytes:
    """Digital silence (24 kHz PCM)."""
    return bytes(48 * length_ms)
