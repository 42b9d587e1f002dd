"""Models as plain synchronous classes behind five interfaces; one module a backend."""

import os

# OpenMP's threads spin while they wait for each other. As soon as anything else wants the
# cores, each of the hundreds of waits in a step burns a time slice: on 2 busy cores SmolLM2 wrote
# 1 to 3 tokens a second and used ten times the CPU, against 17 when waiting threads sleep. The
# library reads this once, when it is loaded, so it stands before any import of a model library.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
