"""The Realtime protocol as pure code: no I/O, no threads, no clock."""
