"""What the conformance suite is made of: a client, checkers of what it hears, and a scorecard.

Nothing in here knows a server. The modules need ``websockets``, ``numpy``, ``openai`` (for its
types) and ``pytest``.
"""
