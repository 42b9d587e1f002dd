"""Four turns by Pipecat's ``OpenAIRealtimeLLMService``.

Only the first question of a context is typed there: what is appended later goes to the model
as a system message. So all other questions are spoken.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMRunFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime.events import (
    AudioConfiguration,
    AudioInput,
    InputAudioTranscription,
    SessionProperties,
)
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner

from tests.stock_clients.players.play import (
    ANSWER,
    LAST_ANSWER,
    QUESTION,
    RATE_HZ,
    STORY_QUESTION,
    WEATHER,
    WEATHER_QUESTION,
    Log,
    Microphone,
    Report,
    main,
)

if TYPE_CHECKING:
    from pipecat.services.llm_service import FunctionCallParams

# Pipecat hands every output of a function on as JSON.
WEATHER_ANSWER = f"It is {json.dumps(WEATHER)}."
HEARD = [QUESTION, WEATHER_QUESTION, STORY_QUESTION, "Stop, please."]


class Ears(FrameProcessor):
    """Notes what comes out of the service."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        match frame:
            case TTSAudioRawFrame():
                self._log.note("audio", len(frame.audio))
            case InterruptionFrame():
                self._log.note("interrupted")
            case _:
                self._log.note(type(frame).__name__)
        await self.push_frame(frame, direction)


def texts(context: LLMContext) -> list[list[str]]:
    """Role and words of every message, in order."""
    return [
        [message["role"], str(message.get("content"))]
        for message in context.get_messages()
        if message["role"] in ("user", "assistant") and message.get("content")
    ]


async def listen(worker: PipelineWorker, microphone: Microphone) -> None:
    """Pass the microphone's audio on."""
    async for piece in microphone.pieces():
        await worker.queue_frame(
            InputAudioRawFrame(audio=piece, sample_rate=RATE_HZ, num_channels=1)
        )


async def play(url: str, log: Log) -> Report:
    """Play all turns."""

    async def get_weather(call: FunctionCallParams) -> None:
        log.note("city", call.arguments["city"])
        await call.result_callback(WEATHER)

    transcription = InputAudioTranscription(
        model="whisper-1", prompt=f"#script {json.dumps({'answers': HEARD})}"
    )
    properties = SessionProperties(
        audio=AudioConfiguration(input=AudioInput(transcription=transcription))
    )
    service = OpenAIRealtimeLLMService(
        api_key="none",
        base_url=url,
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction="Be brief.", session_properties=properties
        ),
    )
    service.register_function("get_weather", get_weather)
    weather = FunctionSchema(
        "get_weather", "Tell the weather.", {"city": {"type": "string"}}, ["city"]
    )
    context = LLMContext([{"role": "user", "content": QUESTION}], ToolsSchema([weather]))
    pair = LLMContextAggregatorPair(context)
    pipeline = Pipeline([pair.user(), service, Ears(log), pair.assistant()])
    worker = PipelineWorker(pipeline, enable_rtvi=False)

    @worker.event_handler("on_pipeline_error")
    async def _(_worker: Any, frame: ErrorFrame) -> None:
        log.note("error", frame.error)

    def answered(text: str, times: int = 1) -> bool:
        return texts(context).count(["assistant", text]) >= times

    microphone = Microphone()
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(runner.run())
        listening = tasks.create_task(listen(worker, microphone))
        await worker.queue_frame(LLMRunFrame())
        await log.until(lambda: answered(ANSWER))

        microphone.speak()
        await log.until(lambda: answered(ANSWER, 2))

        microphone.speak()
        await log.until(lambda: answered(WEATHER_ANSWER))

        heard, interruptions = len(log.of("audio")), len(log.of("interrupted"))
        microphone.speak()
        await log.until_noted("audio", heard + 1)
        interruptions = len(log.of("interrupted"))
        microphone.speak()
        await log.until_noted("interrupted", interruptions + 1)
        await log.until(lambda: answered(LAST_ANSWER))
        listening.cancel()
        await worker.queue_frame(EndFrame())
    return {
        "history": texts(context),
        "cities": log.of("city"),
        "audio_bytes": sum(log.of("audio")),
        "interruptions": len(log.of("interrupted")) - interruptions,
        "errors": log.of("error"),
    }


if __name__ == "__main__":
    main(play)
