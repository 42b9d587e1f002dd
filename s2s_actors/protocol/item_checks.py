"""What a client may put into the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol.ids import MAX_ITEM_ID_CHARS, new_id
from s2s_actors.protocol.images import check_size, image_bytes
from s2s_actors.protocol.items import (
    ALLOWED_PARTS,
    ContentPart,
    FunctionCall,
    FunctionCallOutput,
    InputImage,
    Item,
    Message,
    OutputAudio,
)
from s2s_actors.protocol.mcp_items import McpApprovalResponse, McpItem

if TYPE_CHECKING:
    from s2s_actors.protocol.conversation import Conversation


def prepared(item: Item, conversation: Conversation) -> Item:
    """The item as it will stand in the conversation: checked, with an id, completed.

    Raises:
        ClientError: Naming the field at fault.
    """
    if len(item.id) > MAX_ITEM_ID_CHARS:
        raise ClientError(
            "string_above_max_length",
            f"Invalid 'item.id': string too long. Expected a string with maximum length "
            f"{MAX_ITEM_ID_CHARS}, but got a string with length {len(item.id)} instead.",
            param="item.id",
        )
    conversation.check_free(item.id)
    if isinstance(item, McpApprovalResponse):
        reason = UNSET if item.reason is None else item.reason
        return replace(item, id=item.id or new_id("mcpa"), reason=reason)
    if isinstance(item, McpItem):
        return replace(item, id=item.id or new_id("mcp"))
    match item:
        case Message():
            check_content(item, path="item")
        case FunctionCallOutput(call_id=call_id) if not conversation.has_call(call_id):
            raise ClientError(
                "invalid_tool_call_id",
                f"Tool call ID '{call_id}' not found in conversation.",
                param="item.call_id",
            )
        case FunctionCall(call_id=""):
            item = replace(item, call_id=new_id("call"))
        case _:
            pass
    return replace(item, id=item.id or new_id("item"), status="completed")


def check_content(message: Message, *, path: str) -> None:
    """Refuse content that the role can't have or that nobody here can read.

    Args:
        message: What to check.
        path: Where it is in the client event.

    Raises:
        ClientError: Naming the part at fault.
    """
    images_bytes = 0
    for index, part in enumerate(message.content):
        where = f"{path}.content[{index}]"
        _check_part(message, where, part)
        if isinstance(part, InputImage):
            images_bytes += image_bytes(part.image_url, param=f"{where}.image_url")
            check_size(images_bytes, param=f"{where}.image_url")


def _check_part(message: Message, path: str, part: ContentPart) -> None:
    if isinstance(part, OutputAudio):
        raise ClientError(
            "missing_required_parameter",
            f"Missing required parameter: '{path}.text'.",
            param=f"{path}.text",
        )
    if not isinstance(part, ALLOWED_PARTS[message.role]):
        kind = part.__struct_config__.tag
        raise ClientError(
            "invalid_value",
            f"Invalid value: '{kind}' is not a content type of a message by the {message.role}.",
            param=f"{path}.type",
        )
