"""Long runs against a server in a process of its own: nothing grows, nothing stays behind."""
