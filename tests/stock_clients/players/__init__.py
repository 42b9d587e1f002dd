"""Programs that play the same four turns, each by one stock client; run by that client's Python."""
