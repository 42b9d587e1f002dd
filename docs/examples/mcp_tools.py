"""A question that is answered with the help of an MCP server.

python mcp_tools.py [MCP_URL] [BASE_URL] [yes|no]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from openai import OpenAI

if TYPE_CHECKING:
    from openai.resources.realtime.realtime import RealtimeConnection
    from openai.types.realtime import RealtimeServerEvent


def ask(mcp_url: str, base_url: str, question: str, *, approve: bool) -> None:
    """Hold one turn, and print what happens in it."""
    # The server looks at neither key nor model name, but the client insists on both.
    client = OpenAI(base_url=base_url, api_key="none")
    with client.realtime.connect(model="local") as connection:
        connection.session.update(
            session={
                "type": "realtime",
                "output_modalities": ["text"],
                "tools": [
                    {
                        "type": "mcp",
                        "server_label": "weather",
                        "server_url": mcp_url,
                        "require_approval": "always",
                    }
                ],
            }
        )
        for event in connection:
            if event.type == "mcp_list_tools.completed":
                begin(connection, question)
            elif event.type == "mcp_list_tools.failed":
                raise RuntimeError("the MCP server can't be reached")
            elif event.type == "conversation.item.done":
                item_done(connection, event, approve=approve)
            elif event.type == "response.output_text.done":
                print("answered:", event.text)
                return
            elif event.type == "error":
                raise RuntimeError(f"{event.error.code}: {event.error.message}")


def begin(connection: RealtimeConnection, question: str) -> None:
    """Ask, now that the tools are known."""
    connection.conversation.item.create(
        item={
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": question}],
        }
    )
    connection.response.create()


def item_done(connection: RealtimeConnection, event: RealtimeServerEvent, *, approve: bool) -> None:
    """Decide about a call; once it is over, let the model go on."""
    assert event.type == "conversation.item.done"
    item = event.item
    if item.type == "mcp_list_tools":
        print("tools:   ", ", ".join(tool.name for tool in item.tools))
    elif item.type == "mcp_approval_request":
        print("may I?   ", item.name, item.arguments)
        connection.conversation.item.create(
            item={
                "type": "mcp_approval_response",
                "id": "decision_1",
                "approval_request_id": item.id,
                "approve": approve,
            }
        )
    elif item.type == "mcp_call":
        print("called:  ", item.output or item.error)
        connection.response.create()


if __name__ == "__main__":
    arguments = sys.argv[1:]
    ask(
        arguments[0] if arguments else "http://127.0.0.1:8000/mcp",
        arguments[1] if len(arguments) > 1 else "http://127.0.0.1:8765/v1",
        "What is the weather in Rome?",
        approve=arguments[2:] != ["no"],
    )
