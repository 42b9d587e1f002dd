"""Pictures in messages that a client creates."""

from __future__ import annotations

import base64
import binascii
import re

from s2s_actors.errors import ClientError

MAX_IMAGES_BYTES = 5 * 1024 * 1024
"""What the pictures of one message may take, decoded: an item has to fit into one event, and
stock clients take events of 8 MiB."""
_URL = re.compile(r"data:image/(?P<kind>png|jpeg);base64,")
_SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff"}


def image_bytes(url: str, *, param: str) -> int:
    """Check a picture, and return its size.

    Raises:
        ClientError: It is no data URL of a PNG or JPEG image, or too large by itself.
    """
    head = _URL.match(url)
    if head is None:
        raise ClientError(
            "invalid_value",
            f"Invalid '{param}': expected a data URL that begins with "
            "'data:image/png;base64,' or 'data:image/jpeg;base64,'.",
            param=param,
        )
    check_size((len(url) - head.end()) // 4 * 3, param=param)
    try:
        data = base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise ClientError(
            "invalid_value", f"Invalid '{param}': it is not valid base64.", param=param
        ) from None
    if not data.startswith(_SIGNATURES[head["kind"]]):
        raise ClientError(
            "invalid_value", f"Invalid '{param}': it is no {head['kind']} image.", param=param
        )
    return len(data)


def check_size(size_bytes: int, *, param: str) -> None:
    """Hold the pictures of a message to their limit.

    Raises:
        ClientError: They are larger than :data:`MAX_IMAGES_BYTES` (give or take padding).
    """
    if size_bytes > MAX_IMAGES_BYTES:
        raise ClientError(
            "string_above_max_length",
            f"Invalid '{param}': the images of a message hold at most {MAX_IMAGES_BYTES} bytes.",
            param=param,
        )
