"""The websocket listener and its status endpoints."""
