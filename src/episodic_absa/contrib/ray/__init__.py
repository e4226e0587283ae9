"""`engine: ray`: workers of a Ray cluster analyse the samples of grids and the reviews of files.

Whatever is read, written or committed stays with the command: workers compute, and a lost one is replaced.
"""

from episodic_absa.contrib.ray.ray_cluster import connect, worker_number
from episodic_absa.contrib.ray.ray_grid import ray_grid
from episodic_absa.contrib.ray.ray_processes import ray_processes

__all__ = ["connect", "ray_grid", "ray_processes", "worker_number"]
