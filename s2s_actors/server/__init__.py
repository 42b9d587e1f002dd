"""The websocket listener and its status endpoints."""

from s2s_actors.server.app import Stop, serve
from s2s_actors.server.listener import Listener, bind
from s2s_actors.server.options import ServerOptions

__all__ = ["Listener", "ServerOptions", "Stop", "bind", "serve"]
