"""Models as plain synchronous classes behind four interfaces; one module a backend."""
