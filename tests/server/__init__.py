"""Tests of the websocket server."""
