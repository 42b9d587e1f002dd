"""Rules of responses, as a client sees them (I2 to I6)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from .stream_ends import check_status, check_usage
from .stream_outputs import Output, Part, Response

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .stream_conversation import ConversationRules

Event = dict[str, Any]

TEXT_FIELD = {"audio": "transcript", "text": "text"}
_WITHOUT_RESPONSE_ID = (
    "response.mcp_call.in_progress",
    "response.mcp_call.completed",
    "response.mcp_call.failed",
)


class ResponseRules:
    """Follows every open response."""

    def __init__(
        self, fail: Callable[[str, str], NoReturn], conversation: ConversationRules
    ) -> None:
        self._fail = fail
        self._conversation = conversation
        self._open: dict[str, Response] = {}
        self._over: set[str] = set()
        self._item_ids: set[str] = set()
        self._outside: set[str] = set()
        self._conversation_id: str | None = None
        self._handlers: dict[str, Callable[[Response, Event], None]] = {
            "response.done": self._done,
            "response.output_item.added": self._item_added,
            "response.output_item.done": self._item_done,
            "response.content_part.added": self._part_added,
            "response.content_part.done": self._part_done,
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": self._text_done,
            "response.output_audio_transcript.delta": self._text_delta,
            "response.output_audio_transcript.done": self._text_done,
            "response.output_audio.delta": self._audio_delta,
            "response.output_audio.done": self._audio_done,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
            "response.mcp_call_arguments.delta": self._arguments_delta,
            "response.mcp_call_arguments.done": self._arguments_done,
        }

    @property
    def open_ids(self) -> list[str]:
        """Ids of the responses that have not ended."""
        return list(self._open)

    def server(self, event: Event) -> None:
        """Take in an event of any type."""
        kind = event["type"]
        if kind == "response.created":
            self._created(event["response"])
        elif kind.startswith("response.") and kind not in _WITHOUT_RESPONSE_ID:
            response = self._response(event)
            if handler := self._handlers.get(kind):
                handler(response, event)
        elif kind == "conversation.item.added" and event["item"]["id"] in self._outside:
            self._fail("I2", "an item of an out-of-band response in the conversation")

    def finish(self) -> None:
        """Every response must have ended."""
        if self._open:
            self._fail("I2", f"responses without response.done: {', '.join(self._open)}")

    # --- the response as a whole --------------------------------------------------------------

    def _created(self, head: Event) -> None:
        response_id = head["id"]
        if response_id in self._open or response_id in self._over:
            self._fail("I2", f"response {response_id} was created twice")
        if head["status"] != "in_progress" or head["output"] or head["usage"] is not None:
            self._fail("I2", "a new response is in progress, without output and usage")
        response = Response(head)
        if response.in_conversation:
            for other_id, other in self._open.items():
                if other.in_conversation:
                    self._fail("I3", f"{response_id} began while {other_id} is open")
            self._conversation_id = self._conversation_id or head["conversation_id"]
            if head["conversation_id"] != self._conversation_id:
                self._fail("I3", "the conversation has changed its id")
        self._open[response_id] = response

    def _response(self, event: Event) -> Response:
        response_id = event.get("response_id") or event.get("response", {}).get("id")
        if response_id in self._over:
            self._fail("I2", f"{event['type']} after response.done of {response_id}")
        if response_id not in self._open:
            self._fail("I2", f"{event['type']} for unknown response {response_id}")
        return self._open[response_id]

    def _done(self, response: Response, event: Event) -> None:
        end = event["response"]
        for index, output in enumerate(response.outputs):
            if output.done is None:
                self._fail("I2", f"response.done while output {index} is open")
            self._check_in_conversation(output)
        listed = [output.done for output in response.outputs]
        if end["output"] != listed:
            self._fail("I4", "response.done.output differs from the items that were done")
        for name in ("conversation_id", "metadata", "output_modalities", "audio"):
            if end.get(name) != response.head.get(name):
                self._fail("I2", f"{name} of the response has changed")
        check_status(end, self._fail)
        check_usage(end["usage"], self._fail)
        del self._open[end["id"]]
        self._over.add(end["id"])

    def _check_in_conversation(self, output: Output) -> None:
        item_id = output.item["id"]
        if item_id not in self._conversation.of_responses:
            return  # out of band, or deleted meanwhile
        if item_id not in self._conversation.done and _waits_for_approval(output.done):
            return
        if self._conversation.done.get(item_id) != output.done:
            self._fail("ITEMS", f"conversation.item.done of {item_id} is missing or differs")

    # --- items ----------------------------------------------------------------------------

    def _item_added(self, response: Response, event: Event) -> None:
        item = event["item"]
        if event["output_index"] != len(response.outputs):
            self._fail("I4", f"output_index {event['output_index']} is not the next one")
        if item["id"] in self._item_ids:
            self._fail("I4", f"item {item['id']} was added to a response before")
        if (
            item.get("status", "in_progress") != "in_progress"
            or item.get("content")
            or item.get("arguments")
        ):
            self._fail("I4", "a new output item is in progress and empty")
        self._item_ids.add(item["id"])
        response.outputs.append(Output(item))
        if response.in_conversation:
            self._conversation.of_responses.add(item["id"])
        else:
            self._outside.add(item["id"])

    def _item_done(self, response: Response, event: Event) -> None:
        item = event["item"]
        output = self._find(response, event | {"item_id": item["id"]})
        if any(not part.done for part in output.parts):
            self._fail("I5", f"{item['id']} is done, but one of its parts is open")
        if item.get("status", "completed") not in ("completed", "incomplete"):
            self._fail("I4", f"an item can't end as {item['status']}")
        if item["type"] == "message":
            self._check_content(output, item)
        elif item["type"] in ("function_call", "mcp_call"):
            if not output.arguments_done:
                self._fail("I5", "a call is done before its arguments are")
            if item["arguments"] != "".join(output.arguments):
                self._fail("I5", "arguments of the item differ from their deltas")
            self._check_call(output, item)
        if response.in_conversation and item["id"] not in self._conversation.seen:
            self._fail("ITEMS", f"{item['id']} was never added to the conversation")
        output.done = item

    def _check_content(self, output: Output, item: Event) -> None:
        written = [(part.kind, "".join(part.text)) for part in output.parts]
        kinds = {"output_audio": "audio", "output_text": "text"}
        listed = [
            (kinds[part["type"]], part[TEXT_FIELD[kinds[part["type"]]]]) for part in item["content"]
        ]
        if written != listed:
            self._fail("I5", f"parts said {written}, the item says {listed}")

    def _find(self, response: Response, event: Event) -> Output:
        index = event["output_index"]
        if not 0 <= index < len(response.outputs):
            self._fail("I4", f"output_index {index} was not added")
        output = response.outputs[index]
        if output.item["id"] != event["item_id"]:
            self._fail("I4", f"output {index} is {output.item['id']}, not {event['item_id']}")
        if output.done is not None:
            self._fail("I5", f"{event['type']} after {event['item_id']} was done")
        return output

    # --- parts ----------------------------------------------------------------------------

    def _part_added(self, response: Response, event: Event) -> None:
        output = self._find(response, event)
        part = event["part"]
        if event["content_index"] != len(output.parts):
            self._fail("I5", f"content_index {event['content_index']} is not the next one")
        if part["type"] not in response.head["output_modalities"]:
            self._fail("I5", f"a part of type {part['type']} was not asked for")
        if part.get(TEXT_FIELD[part["type"]]):
            self._fail("I5", "a new part is empty")
        output.parts.append(Part(part["type"]))

    def _part(self, response: Response, event: Event, kind: str | None = None) -> Part:
        output = self._find(response, event)
        index = event["content_index"]
        if not 0 <= index < len(output.parts):
            self._fail("I5", f"content_index {index} was not added")
        part = output.parts[index]
        if part.done:
            self._fail("I5", f"{event['type']} after the part was done")
        if kind is not None and part.kind != kind:
            self._fail("I5", f"{event['type']} in a part of type {part.kind}")
        return part

    def _part_done(self, response: Response, event: Event) -> None:
        part = self._part(response, event, event["part"]["type"])
        if not part.text_done:
            self._fail("I5", "a part is done before its text is")
        if event["part"].get(TEXT_FIELD[part.kind]) != "".join(part.text):
            self._fail("I5", "content_part.done differs from the deltas")
        part.done = True

    def _text_delta(self, response: Response, event: Event) -> None:
        part = self._part(response, event, _kind(event))
        if part.text_done:
            self._fail("I5", "a delta after its done")
        part.text.append(event["delta"])

    def _text_done(self, response: Response, event: Event) -> None:
        part = self._part(response, event, _kind(event))
        if part.text_done:
            self._fail("I5", f"{event['type']} came twice for a part")
        if part.audio_bytes and not part.audio_done:
            self._fail("I6", "the transcript is done before the audio is")
        if event[TEXT_FIELD[part.kind]] != "".join(part.text):
            self._fail("I5", f"{event['type']} differs from the deltas")
        part.text_done = True

    def _audio_delta(self, response: Response, event: Event) -> None:
        part = self._part(response, event, "audio")
        if part.audio_done or part.text_done:
            self._fail("I6", "audio after its done")
        audio = base64.b64decode(event["delta"], validate=True)
        if not audio:
            self._fail("I6", "an empty audio delta")
        if response.head["audio"]["output"]["format"]["type"] == "audio/pcm" and len(audio) % 2:
            self._fail("I6", "an audio delta ends in the middle of a sample")
        part.audio_bytes += len(audio)

    def _audio_done(self, response: Response, event: Event) -> None:
        part = self._part(response, event, "audio")
        if not part.audio_bytes:
            self._fail("I6", "output_audio.done without any audio")
        if part.audio_done:
            self._fail("I6", "output_audio.done came twice for a part")
        if part.text_done:
            self._fail("I6", "output_audio.done after the transcript was done")
        part.audio_done = True

    # --- calls ----------------------------------------------------------------------------

    def _arguments_delta(self, response: Response, event: Event) -> None:
        output = self._find(response, event)
        self._check_call(output, event)
        if output.arguments_done:
            self._fail("I5", "arguments after their done")
        output.arguments.append(event["delta"])

    def _arguments_done(self, response: Response, event: Event) -> None:
        output = self._find(response, event)
        self._check_call(output, event)
        if output.arguments_done:
            self._fail("I5", "arguments are done twice")
        if event["arguments"] != "".join(output.arguments):
            self._fail("I5", "arguments differ from their deltas")
        output.arguments_done = True

    def _check_call(self, output: Output, event: Event) -> None:
        for name in ("call_id", "name"):
            if name in event and event[name] != output.item.get(name):
                self._fail("I4", f"{name} of the call has changed")


def _waits_for_approval(item: Event | None) -> bool:
    """Whether a call has left its response and is still open in the conversation."""
    return (
        item is not None
        and item["type"] == "mcp_call"
        and "approval_request_id" in item
        and item["output"] is None
        and "error" not in item
    )


def _kind(event: Event) -> str:
    return "text" if event["type"].startswith("response.output_text.") else "audio"
