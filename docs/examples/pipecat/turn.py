"""Pipecat's ``OpenAIRealtimeLLMService`` in a pipeline.

python turn.py [URL]

The pipeline here has no transport. With one, ``transport.input()`` comes first and
``transport.output()`` after the service, and the user is heard.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import EndFrame, LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner

if TYPE_CHECKING:
    from pipecat.services.llm_service import FunctionCallParams

WEATHER = FunctionSchema(
    "get_weather", "Tell the weather in a city.", {"city": {"type": "string"}}, ["city"]
)


async def get_weather(call: FunctionCallParams) -> None:
    """Tell the weather in a city."""
    print(f"(looks out of the window in {call.arguments['city']})")
    await call.result_callback("22 degrees and sunny")


async def main(url: str) -> None:
    """Ask about the weather; the service calls the function and says what it has learned."""
    service = OpenAIRealtimeLLMService(
        api_key="none",
        base_url=url,
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction="Answer in one short sentence."
        ),
    )
    service.register_function("get_weather", get_weather)
    question = {"role": "user", "content": "What is the weather in Paris?"}
    context = LLMContext([question], ToolsSchema([WEATHER]))
    pair = LLMContextAggregatorPair(context)
    worker = PipelineWorker(Pipeline([pair.user(), service, pair.assistant()]))

    @pair.assistant().event_handler("on_assistant_turn_stopped")
    async def said(_aggregator: object, message: object) -> None:
        if message.content:
            print(message.content)
            await worker.queue_frame(EndFrame())

    runner = WorkerRunner()
    await runner.add_workers(worker)
    await worker.queue_frame(LLMRunFrame())
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8765/v1/realtime"))
