"""A whole server without sockets and models, on a clock of its own: the same run each time."""
