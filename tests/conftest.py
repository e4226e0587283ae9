"""Settings that every test shares."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("repeatable")

# Started in the background of a script, a run ignores Ctrl-C and so would every process it starts; tests that interrupt
# one would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
