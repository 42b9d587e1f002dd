"""From the operator's settings to the parts of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.actors.conversation import ConversationRules
from s2s_actors.actors.health import HealthLimits
from s2s_actors.actors.hosts import Hosts
from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.actors.unit import UnitTimings
from s2s_actors.actors.wiring import Plant
from s2s_actors.backends.abilities import context_tokens_of
from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.mcp_base import NoMcp
from s2s_actors.backends.mcp_hosts import HostList, McpOnHosts
from s2s_actors.backends.mcp_http import HttpMcp
from s2s_actors.backends.registry import BackendChoice, ModelSelection
from s2s_actors.protocol.conduct import PLAIN, Conduct
from s2s_actors.protocol.history import HistoryLimits
from s2s_actors.server.descriptors import room_for
from s2s_actors.server.options import ServerOptions

if TYPE_CHECKING:
    from s2s_actors.access import Access
    from s2s_actors.actors.board import Board
    from s2s_actors.backends.base import Models
    from s2s_actors.backends.mcp_base import McpGateway
    from s2s_actors.runtime.clock import SystemClock
    from s2s_actors.settings import Settings

__all__ = ["mcp_gateway", "model_selection", "plant", "server_options"]

_AFTER_DRAIN_S: Final = 2.0
"""What a session gets on top of the drain deadline when the server goes down."""


def mcp_gateway(settings: Settings) -> McpGateway:
    """The way to MCP servers, as far as the operator lets sessions go.

    Raises:
        SetupError: The list of hosts has one that is none.
    """
    if settings.mcp == "off":
        return NoMcp()
    if settings.mcp_hosts is None:
        return HttpMcp()
    return McpOnHosts(HttpMcp(), HostList(settings.mcp_hosts))


def model_selection(settings: Settings) -> ModelSelection:
    """Which backends to load, and with what."""
    script = settings.script
    return ModelSelection(
        vad=BackendChoice(settings.vad, BackendOptions(script=script)),
        stt=BackendChoice(settings.stt, BackendOptions(model=settings.stt_model, script=script)),
        llm=BackendChoice(
            settings.llm,
            BackendOptions(
                model=settings.llm_model,
                base_url=settings.llm_base_url,
                api_key=settings.llm_api_key,
                connect_timeout_s=settings.llm_connect_timeout_s,
                first_timeout_s=settings.llm_first_timeout_s,
                timeout_s=settings.llm_timeout_s,
                script=script,
            ),
        ),
        tts=BackendChoice(settings.tts, BackendOptions(voice=settings.tts_voice, script=script)),
        turn=BackendChoice(settings.turn, BackendOptions(script=script)),
    )


def plant(
    settings: Settings, models: Models, board: Board, clock: SystemClock, mcp: McpGateway
) -> Plant:
    """The actors of a process, ready to start."""
    return Plant(
        models=models,
        around=Surroundings(
            board,
            clock,
            mcp,
            limits=_health_limits(settings),
            hosts=Hosts.shared(models.vad),
        ),
        pool_rules=PoolRules(
            units=settings.units,
            queue_limit=settings.queue,
            queue_timeout_s=settings.queue_timeout_s,
            shutdown_timeout_s=settings.shutdown_timeout_s,
            close_timeout_s=settings.drain_timeout_s + _AFTER_DRAIN_S,
            failing_sessions=settings.failing_sessions,
        ),
        timings=UnitTimings(
            claim_timeout_s=settings.claim_timeout_s, drain_timeout_s=settings.drain_timeout_s
        ),
        conversation=ConversationRules(
            model=models.llm.info.id,
            stt_model=models.stt.info.id,
            instructions=settings.instructions,
            context_tokens=context_tokens_of(models.llm),
            max_duration_s=settings.session_timeout_s,
            conduct=_conduct(settings),
            history=HistoryLimits(
                audio_bytes=settings.history_audio_bytes,
                items=settings.history_items,
                text_bytes=settings.history_text_bytes,
            ),
        ),
    )


def _health_limits(settings: Settings) -> HealthLimits:
    if settings.admission == "units":
        return HealthLimits(None, None)
    return HealthLimits(settings.max_lag_s, settings.max_model_wait_s)


def _conduct(settings: Settings) -> Conduct:
    if settings.conduct == "plain":
        return PLAIN
    return Conduct(
        drafts=settings.speculation == "on",
        partials=settings.partial_transcripts == "on",
        weighs_interruptions=settings.interruptions == "weighed",
        resumes=settings.resume == "on",
        knows_playback=settings.playback_clock == "on",
        ignores_echo=settings.echo_guard == "on",
        lead_ms=round(settings.audio_lead_s * 1000),
    )


def server_options(settings: Settings, access: Access) -> ServerOptions:
    """How the port is served."""
    return ServerOptions(
        host=settings.host,
        port=settings.port,
        max_frame_bytes=settings.max_frame_bytes,
        compression=settings.compression == "deflate",
        write_timeout_s=settings.write_timeout_s,
        max_connections=room_for(settings.max_connections, settings.units),
        door=access.door,
        tls=access.tls.context if access.tls else None,
    )
