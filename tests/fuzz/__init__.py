"""What nobody would send: drawn from the types of the protocol itself, and then damaged."""
