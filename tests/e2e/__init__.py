"""The whole server, from outside: real sockets, and models that play a script."""
