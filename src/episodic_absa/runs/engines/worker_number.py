"""How many workers of a cluster a job uses, if nobody says."""

from collections.abc import Mapping
from typing import Final

from episodic_absa.errors import ConfigError

MEMORY_OF_A_PROCESS: Final = 2 << 30
"""Physical memory per process that is started without being asked; each uses a third of it."""
_REQUESTS_OF_A_WORKER: Final = 16


def cores_of(resources: Mapping[str, float]) -> int:
    """Return the CPUs of a cluster.

    Raises:
        ConfigError: it has none.
    """
    cores = int(resources.get("CPU", 0))
    if cores < 1:
        raise ConfigError(
            "the Ray cluster has no CPU; start a worker node: ray start --address=HOST:PORT", key="ray_address"
        )
    return cores


def usual_workers(resources: Mapping[str, float], *, most: int, concurrency: int, asks_a_server: bool) -> int:
    """Return how many workers are of use: the CPUs and the memory limit the embedded engine, requests a server.

    Args:
        resources: of the cluster.
        most: how many parts the job has.
        concurrency: requests in flight, over all workers.
        asks_a_server: whether the answers come from a server.

    Raises:
        ConfigError: the cluster has no CPU.
    """
    cores = cores_of(resources)
    if asks_a_server:
        return min(cores, -(-concurrency // _REQUESTS_OF_A_WORKER))
    return max(1, min(cores, int(resources.get("memory", 0)) // MEMORY_OF_A_PROCESS, most))
