"""The settings, each declared once, in the room of what it is for."""
