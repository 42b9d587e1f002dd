"""What one response will be: the session's settings with the overrides of its request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import UnsetType

from s2s_actors.errors import ClientError
from s2s_actors.protocol.created_audio import entry_of
from s2s_actors.protocol.delivery import Delivery
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.item_checks import check_content
from s2s_actors.protocol.items import Item, ItemReference, Message
from s2s_actors.protocol.mcp_checks import settled
from s2s_actors.protocol.mcp_tools import McpChoice, McpTool
from s2s_actors.protocol.response import Response, ShownAudio, ShownOutput
from s2s_actors.protocol.session import FunctionTool, VoiceId
from s2s_actors.protocol.truncation import Room, fixed_tokens, visible
from s2s_actors.protocol.validation import check_depth

if TYPE_CHECKING:
    from s2s_actors.protocol.conversation import Conversation
    from s2s_actors.protocol.response import ResponseInput, ResponseParams
    from s2s_actors.protocol.session import (
        AudioFormat,
        MaxTokens,
        RealtimeSession,
        ToolChoice,
        Truncation,
    )

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ResponsePlan:
    """Settings that hold for one response, fixed when it is created.

    Attributes:
        in_conversation: False for an out-of-band response, which leaves no trace in it.
        items: Context given with the request, None for the conversation. References are
            resolved when generation starts: what they name may not be known as text before.
            The same holds for what is said in the request.
        servers: MCP servers whose tools the model may call besides ``tools``.
        awaited: Those of them that the request itself names: it waits for their answer.
    """

    in_conversation: bool
    conversation_id: str
    modality: Literal["audio", "text"]
    instructions: str
    tools: tuple[FunctionTool, ...]
    tool_choice: ToolChoice
    max_tokens: MaxTokens
    truncation: Truncation
    voice: str
    speed: float
    format: AudioFormat
    metadata: dict[str, str] | None
    items: tuple[Entry | ItemReference, ...] | None
    servers: tuple[McpTool, ...]
    awaited: tuple[McpTool, ...]

    @classmethod
    def of(
        cls, params: ResponseParams, session: RealtimeSession, conversation: Conversation
    ) -> ResponsePlan:
        """Lay the overrides over the session.

        Raises:
            ClientError: The input refers to an item that is not there or can't be read, or a
                tool is nested too deeply.
        """
        tools = session.tools
        if not isinstance(params.tools, UnsetType):
            tools = settled(params.tools, session.tools, path="response.tools", reuse=True)
        functions = tuple(tool for tool in tools if isinstance(tool, FunctionTool))
        servers = tuple(tool for tool in tools if isinstance(tool, McpTool))
        check_depth([tool.parameters for tool in functions], param="response.tools")
        _check_choice(params.tool_choice, servers)
        output = params.audio.output
        voice = _or(output.voice, session.audio.output.voice)
        return cls(
            in_conversation=params.conversation == "auto",
            conversation_id=conversation.id,
            modality=_or(params.output_modalities, session.output_modalities)[0],
            instructions=session.instructions
            if params.instructions is None
            else _or(params.instructions, session.instructions),
            tools=functions,
            servers=servers,
            awaited=() if isinstance(params.tools, UnsetType) else servers,
            tool_choice=_or(params.tool_choice, session.tool_choice),
            max_tokens=_or(params.max_output_tokens, session.max_output_tokens),
            truncation=session.truncation,
            voice=voice.id if isinstance(voice, VoiceId) else voice,
            speed=_or(output.speed, session.audio.output.speed),
            format=_or(output.format, session.audio.output.format),
            metadata=params.metadata,
            items=None
            if isinstance(params.input, UnsetType)
            else tuple(
                _checked(f"response.input[{n}]", entry, session, conversation)
                for n, entry in enumerate(params.input)
            ),
        )

    @property
    def reads_conversation(self) -> bool:
        """Whether the context depends on what has been said."""
        return self.items is None or any(isinstance(each, ItemReference) for each in self.items)

    @property
    def unheard(self) -> tuple[Entry, ...]:
        """Messages of the request with words that are not known yet."""
        return tuple(each for each in self.items or () if isinstance(each, Entry) and each.unheard)

    def let_go_of_audio(self) -> None:
        """The audio of the request has been passed on: nobody asks for it any more."""
        for each in self.items or ():
            if isinstance(each, Entry):
                each.let_go_of_audio()

    def delivery(self) -> Delivery:
        """How its text becomes speech, if it does."""
        return Delivery(speaks=self.modality == "audio")

    def context(
        self,
        conversation: Conversation,
        context_tokens: int | None = None,
        *,
        more: tuple[Item, ...] = (),
    ) -> tuple[Item, ...]:
        """What the model is to read, as far as it is still there and fits.

        Args:
            conversation: With all that is known by now.
            context_tokens: What the model can take, its answer included; None if unknown.
            more: What the conversation may get next, as if it were there.

        Raises:
            StageError: It does not fit, and must not be cut.
        """
        if self.items is None:
            items = (*conversation.items(), *more)
        else:
            items = tuple(item for each in self.items if (item := _resolved(each, conversation)))
        fixed = fixed_tokens(self.instructions, self.tools)
        return visible(items, self.truncation, Room(context_tokens, fixed, self.answer_tokens))

    @property
    def answer_tokens(self) -> int | None:
        """The longest answer, None for no limit."""
        return None if self.max_tokens == "inf" else self.max_tokens

    def head(self, response_id: str) -> Response:
        """The response as ``response.created`` shows it."""
        return Response(
            id=response_id,
            status="in_progress",
            conversation_id=self.conversation_id if self.in_conversation else None,
            output_modalities=[self.modality],
            max_output_tokens=self.max_tokens,
            audio=ShownAudio(output=ShownOutput(format=self.format, voice=self.voice)),
            metadata=self.metadata,
        )


def _or(override: T | UnsetType, default: T) -> T:
    return default if isinstance(override, UnsetType) else override


def _check_choice(choice: ToolChoice | UnsetType, servers: tuple[McpTool, ...]) -> None:
    if isinstance(choice, McpChoice) and all(
        server.server_label != choice.server_label for server in servers
    ):
        raise ClientError(
            "invalid_value",
            f"Invalid 'response.tool_choice.server_label': there is no MCP server with the label "
            f"'{choice.server_label[:100]}'.",
            param="response.tool_choice.server_label",
        )


def _checked(
    path: str, given: ResponseInput, session: RealtimeSession, conversation: Conversation
) -> Entry | ItemReference:
    if isinstance(given, Message):
        check_content(given, path=path)
    elif isinstance(given, ItemReference):
        if conversation.find(given.id) is None:
            raise ClientError(
                "invalid_value",
                f"Invalid '{path}.id': the item with id '{given.id}' does not exist.",
                param=f"{path}.id",
            )
        return given
    return entry_of(given, session.audio.input.format, path=path)


def _resolved(each: Entry | ItemReference, conversation: Conversation) -> Item | None:
    found = conversation.find(each.id) if isinstance(each, ItemReference) else each
    return found.item if found else None
