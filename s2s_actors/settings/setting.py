"""How a setting is declared: one field of a table says all that there is to know about it.

Flag, environment variable, key in the file, help text and reference page all follow from
the field: ``claim_timeout_s`` is ``--claim-timeout``, ``S2S_CLAIM_TIMEOUT`` and
``claim_timeout``. A unit at the end of a field's name is for readers of the code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from s2s_actors.settings.values import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from dataclasses import Field
    from typing import Any

    from s2s_actors.settings.values import Kind

__all__ = ["DAY_S", "ENV_PREFIX", "ON_OFF", "Setting", "declared_in", "setting"]

ENV_PREFIX: Final = "S2S_"
DAY_S: Final = 86400.0
ON_OFF: Final = Choice(("on", "off"))
_UNIT_SUFFIXES: Final = ("_s", "_bytes")
_METADATA_KEY: Final = "s2s_actors.setting"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Attributes:
        field: Name of the attribute of the settings.
        kind: How its values are read, checked and shown.
        help: One sentence for help texts and the reference.
        default: Value where no layer says anything; None where it is left to others.
        default_text: What the default amounts to, where None or a long text does not say.
        secret: Never shown, and never taken from a flag: command lines are public.
    """

    field: str
    kind: Kind
    help: str
    default: object
    default_text: str | None
    secret: bool

    @property
    def key(self) -> str:
        """Key in the file."""
        for suffix in _UNIT_SUFFIXES:
            if self.field.endswith(suffix):
                return self.field.removesuffix(suffix)
        return self.field

    @property
    def flag(self) -> str | None:
        """Flag of ``serve``, None for secrets."""
        return None if self.secret else "--" + self.key.replace("_", "-")

    @property
    def env(self) -> str:
        """Environment variable."""
        return ENV_PREFIX + self.key.upper()

    @property
    def optional(self) -> bool:
        """Whether None (nothing set) is a value."""
        return self.default is None


def setting(
    default: _T,
    kind: Kind,
    text: str,
    *,
    default_text: str | None = None,
    secret: bool = False,
) -> _T:
    """Declare a setting, as the default of a field of a table.

    Args:
        default: As for :class:`Setting`, and so are the others.
        kind: How its values are read, checked and shown.
        text: Its help.
        default_text: What the default amounts to.
        secret: Whether it is never shown.
    """
    row = (kind, text, default_text, secret)
    declared: _T = field(default=default, repr=not secret, metadata={_METADATA_KEY: row})
    return declared


def declared_in(table: tuple[Field[Any], ...]) -> Iterator[Setting]:
    """The rows that the fields of a dataclass declare, in their order."""
    for each in table:
        kind, text, default_text, secret = each.metadata[_METADATA_KEY]
        yield Setting(each.name, kind, text, each.default, default_text, secret)
