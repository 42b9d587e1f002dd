"""A realtime speech-to-speech server: OpenAI Realtime protocol, actors and statecharts."""

__version__ = "0.1.0"

__all__ = ["__version__"]
