"""The actors, run by hand: no threads, no sockets, no sleeps."""
