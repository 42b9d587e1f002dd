"""The actors: pool, unit, conversation and the four stages."""
