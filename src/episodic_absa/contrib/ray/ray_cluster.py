"""Connects to a Ray cluster, or starts one on this machine for as long as it is needed."""

import importlib
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Final, NamedTuple

from episodic_absa.backends.provider_facts import reader_fingerprint
from episodic_absa.batch import MEMORY_OF_A_PROCESS
from episodic_absa.errors import ConfigError, EpisodicAbsaError, MissingExtraError
from episodic_absa.serialization.quoted_value import quoted

_RUNNING_HERE: Final = "auto"
_OBJECT_STORE_BYTES: Final = 128 * 1024 * 1024
"""What a cluster that is started here keeps for objects: tasks return a few results each."""
_CONNECT_TIMEOUT_S: Final = 10
_NATIVE_LEVEL: Final = "RAY_BACKEND_LOG_LEVEL"
_USAGE_VARIABLE: Final = "RAY_USAGE_STATS_ENABLED"


class Trouble(NamedTuple):
    """An error that concerns more than one sample. It travels as a value: Ray would wrap it."""

    error: EpisodicAbsaError
    host: str

    @classmethod
    def of(cls, error: EpisodicAbsaError) -> "Trouble":
        """Return the trouble of this process."""
        return cls(error, socket.gethostname())

    def __str__(self) -> str:
        return f"a worker on {self.host} stopped: {self.error}"


def installed() -> str:
    """Return the version of this package and the hash of its engine: nodes that agree give the same results."""
    return f"{version('episodic-absa')} {reader_fingerprint()}"


def require_installed(there: str) -> None:
    """Refuse a node with another version of this package than the machine of the command has."""
    if installed() != there:
        raise ConfigError(
            "another version of episodic-absa or of its engine is installed there; install the same on every node",
            key="ray_address",
        )


@contextmanager
def connect(address: str | None, *, feature: str, key: str, num_cpus: int | None = None) -> Iterator[Any]:
    """Yield the module `ray`, connected, and disconnect at the end; a cluster that was started here ends with it.

    Where the process is connected to a cluster already, that one is used and stays connected.

    Args:
        address: `HOST:PORT` of the head node, `auto` for the cluster that runs on this machine, or None to start one
            on this machine. The variable RAY_ADDRESS is not read.
        feature: what needs Ray, for the message where it is not installed.
        key: the setting or flag that gives the address, for messages.
        num_cpus: how many tasks of one CPU a cluster that is started here runs at once; None for all CPUs.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: nothing answers at the address, or a cluster of another version of Ray or Python.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError(feature=feature, extra="ray") from error
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"address": address}
    if address is None:
        started = {"num_cpus": num_cpus, "object_store_memory": _OBJECT_STORE_BYTES, "include_dashboard": False}
        options = {"address": "local", **started}
    else:
        _require_listener(address, key)
    with _quiet():
        try:
            with _silent_start():
                ray.init(configure_logging=False, log_to_driver=False, **options)
        except (RuntimeError, ValueError, ConnectionError, TimeoutError, OSError, ray.exceptions.RayError) as error:
            ray.shutdown()
            raise _refused(address, key, str(error)) from error
        try:
            yield ray
        finally:
            ray.shutdown()


def worker_number(ray: Any, asked: int | None = None) -> int:
    """Return how many workers a cluster has room for, or as many as were asked for.

    Raises:
        ConfigError: it has fewer CPUs.
    """
    resources = ray.cluster_resources()
    cores = int(resources.get("CPU", 0))
    if cores < 1:
        raise ConfigError(
            "the Ray cluster has no CPU; start a worker node: ray start --address=HOST:PORT", key="ray_address"
        )
    if asked is not None and asked > cores:
        raise ConfigError(
            f"{asked} workers need as many CPUs, and the Ray cluster has {cores}; ask for at most {cores}",
            key="processes",
        )
    return asked or max(1, min(cores, int(resources.get("memory", 0)) // MEMORY_OF_A_PROCESS))


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
