"""Tests of an agent that tells the weather: its prompt, its tool, and what its client does."""

import pytest

from s2s_actors.simulation import Agent, Faults

INSTRUCTIONS = "You tell the weather, and nothing else."
WEATHER = {
    "type": "function",
    "name": "weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
# What a good model would do. The first answer goes to the question, the next to the tool's output.
MODEL = {
    "llm": {
        "answers": ["I only know the weather."],
        "rules": [
            {
                "match": "(?i)weather in rome",
                "answers": [
                    {"tool_calls": [{"name": "weather", "arguments": {"city": "Rome"}}]},
                    {"text": "It is {tool} in Rome.", "first_token_ms": 200, "token_ms": 40},
                ],
            }
        ],
    },
    "tts": {"first_chunk_ms": 100},
}
AGENT = Agent(instructions=INSTRUCTIONS, script=MODEL)


def weather(city: str) -> str:
    """Your tool: no more than a test needs of it."""
    return {"Rome": "sunny"}[city]


def test_a_spoken_question_is_answered_with_what_the_tool_says(s2s_simulation):
    world = s2s_simulation(agent=AGENT)
    caller = world.call(
        session={"type": "realtime", "tools": [WEATHER]}, tools={"weather": weather}
    )
    caller.speaks("What is the weather in Rome?")
    world.run()
    assert caller.answer == "It is sunny in Rome."


def test_the_model_is_given_the_prompt_and_the_tool(s2s_simulation):
    world = s2s_simulation(agent=AGENT)
    caller = world.call(session={"type": "realtime", "tools": [WEATHER]})
    caller.say_text("Hello.")
    world.run()
    asked = world.asked[-1].request
    assert [message.text for message in asked.messages] == [INSTRUCTIONS, "Hello."]
    assert [tool.name for tool in asked.tools] == ["weather"]


def test_the_client_stops_its_loudspeaker_when_it_is_interrupted(s2s_simulation):
    playing = []

    def client(_caller, event):
        if event["type"] == "response.output_audio.delta":
            playing.append(event["delta"])
        elif event["type"] == "input_audio_buffer.speech_started":
            playing.clear()

    world = s2s_simulation(agent=AGENT)
    caller = world.call(on_event=client)
    caller.speaks("Tell me a story.")
    world.run(for_s=3)
    assert playing
    caller.speaks("No, wait, stop that please!", then_silent_ms=0)
    world.run(for_s=1)
    assert playing == []


@pytest.mark.s2s_seeds(20)
def test_whatever_goes_wrong_the_caller_is_answered_or_told(s2s_simulation):
    world = s2s_simulation(agent=AGENT, units=2, faults=Faults.usual())
    caller = world.call(
        session={"type": "realtime", "tools": [WEATHER]}, tools={"weather": weather}
    )
    caller.say_text("The weather in Rome?")
    world.run()
    told = {"error", "response.done"} & set(caller.types)
    assert told or caller.has_left
