"""Connects to a Ray cluster, or starts one on this machine for as long as it is needed."""

import importlib
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from episodic_absa.errors import ConfigError, MissingExtraError
from episodic_absa.serialization.quoted_value import quoted

_RUNNING_HERE: Final = "auto"
_OBJECT_STORE_BYTES: Final = 128 * 1024 * 1024
"""What a cluster that is started here keeps for objects: tasks return lines of text only."""
_CONNECT_TIMEOUT_S: Final = 10
_NATIVE_LEVEL: Final = "RAY_BACKEND_LOG_LEVEL"
_USAGE_VARIABLE: Final = "RAY_USAGE_STATS_ENABLED"
_KEY: Final = "experiment.ray_address"


@dataclass(frozen=True)
class RayCluster:
    """A cluster that this process is connected to."""

    ray: Any
    """The module `ray`, which is imported only where somebody asked for it."""

    @property
    def node_n(self) -> int:
        """The nodes that are alive."""
        return sum(bool(node["Alive"]) for node in self.ray.nodes())

    @property
    def cpu_n(self) -> int:
        """The CPUs of all nodes."""
        return int(self.ray.cluster_resources().get("CPU", 0))


@contextmanager
def connect(
    address: str | None,
    *,
    feature: str,
    key: str = _KEY,
    num_cpus: int | None = None,
    object_store_memory: int = _OBJECT_STORE_BYTES,
) -> Iterator[RayCluster]:
    """Yield a cluster and disconnect at the end; a cluster that was started here ends with it.

    Where the process is connected to a cluster already, that one is used and stays connected.

    Args:
        address: `HOST:PORT` of the head node, `auto` for the cluster that runs on this machine, or None to start one
            on this machine. The variable RAY_ADDRESS is not read.
        feature: what needs Ray, for the message where it is not installed.
        key: the setting or flag that gives the address, for messages.
        num_cpus: how many tasks of one CPU a cluster that is started here runs at once; None for all CPUs.
        object_store_memory: bytes that a cluster that is started here keeps for objects.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: nothing answers at the address, or a cluster of another version of Ray or Python.
    """
    ray = _import_ray(feature)
    if ray.is_initialized():
        yield RayCluster(ray)
        return
    if address is None:
        started = {"num_cpus": num_cpus, "object_store_memory": object_store_memory, "include_dashboard": False}
        options = {"address": "local", **started}
    else:
        _require_listener(address, key)
        options = {"address": address}
    with _quiet():
        try:
            with _silent_start():
                ray.init(configure_logging=False, log_to_driver=False, **options)
        except (RuntimeError, ValueError, ConnectionError, TimeoutError, OSError, ray.exceptions.RayError) as error:
            ray.shutdown()
            raise _refused(address, key, str(error)) from error
        try:
            yield RayCluster(ray)
        finally:
            ray.shutdown()


def _import_ray(feature: str) -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError(feature=feature, extra="ray") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Ray report errors only, and nothing to its makers."""
    logger, usage = logging.getLogger("ray"), os.environ.get(_USAGE_VARIABLE)
    level = logger.level
    logger.setLevel(logging.ERROR)
    os.environ[_USAGE_VARIABLE] = "0"
    try:
        yield
    finally:
        logger.setLevel(level)
        if usage is None:
            os.environ.pop(_USAGE_VARIABLE, None)
        else:
            os.environ[_USAGE_VARIABLE] = usage


@contextmanager
def _silent_start() -> Iterator[None]:
    """Let the native part of Ray, which reads its level when it connects and prints it, be silent from here on.

    On stderr it would warn of every pool of workers and of every worker that is lost.
    """
    if _NATIVE_LEVEL in os.environ:
        yield
        return
    stderr = os.dup(2)
    os.environ[_NATIVE_LEVEL] = "fatal"
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        del os.environ[_NATIVE_LEVEL]
        os.dup2(stderr, 2)
        os.close(stderr)


def _require_listener(address: str, key: str) -> None:
    """Refuse an address where nothing listens: Ray itself would try for a minute."""
    if address == _RUNNING_HERE:
        return
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigError(
            f"{key} is {quoted(address)}; give HOST:PORT of the cluster's head node (6379 unless it was started with "
            f"another port), or {_RUNNING_HERE} for the cluster that runs on this machine",
            key=key,
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT_S).close()
    except (OSError, UnicodeError) as error:
        raise _refused(address, key, str(error)) from error


def _refused(address: str | None, key: str, reason: str) -> ConfigError:
    """Return the error about a cluster that cannot be used; Ray's reasons have many lines."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    shown = " ".join(lines[:6])[:400].rstrip(".")
    if address is None:
        return ConfigError(
            f"cannot start a Ray cluster on this machine: {shown}. Check memory and the disk space of the folder for "
            f"temporary files, or name a running cluster in {key}",
            key=key,
        )
    return ConfigError(
        f"cannot use the Ray cluster at {quoted(address)}: {shown}. Check {key}, that the cluster runs (`ray status` "
        "on its head node), and that it has the same versions of Ray and Python as this command",
        key=key,
    )
