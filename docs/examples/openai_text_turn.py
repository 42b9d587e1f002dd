"""A typed question and a written answer, with nothing but the ``openai`` package.

python openai_text_turn.py [BASE_URL] [QUESTION]
"""

from __future__ import annotations

import sys

from openai import OpenAI


def ask(base_url: str, question: str) -> str:
    """Hold one turn; print the answer as it comes and return it."""
    # The server looks at neither key nor model name, but the client insists on both.
    client = OpenAI(base_url=base_url, api_key="none")
    with client.realtime.connect(model="local") as connection:
        connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        connection.conversation.item.create(
            item={
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": question}],
            }
        )
        connection.response.create()
        answer = ""
        for event in connection:
            if event.type == "response.output_text.delta":
                answer += event.delta
                print(event.delta, end="", flush=True)
            elif event.type == "response.done":
                print(f"\n({event.response.status})")
                break
            elif event.type == "error":
                raise RuntimeError(f"{event.error.code}: {event.error.message}")
    return answer


if __name__ == "__main__":
    arguments = sys.argv[1:]
    ask(
        arguments[0] if arguments else "http://127.0.0.1:8765/v1",
        arguments[1] if len(arguments) > 1 else "What is the capital of France?",
    )
