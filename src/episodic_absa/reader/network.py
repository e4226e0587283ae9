"""Runs the network of a language with ONNX Runtime. Each window is computed by one thread, alone.

So an answer depends on its window and on nothing else: not on what is read beside it, nor on the number of threads.
"""

import gzip
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from episodic_absa.reader.reading import Output, Window
from episodic_absa.reader.weights_folder import NETWORK, TOKENIZER, WeightsFolder


class Network:
    """The network and the tokeniser of a language; threads may share one."""

    def __init__(self, folder: WeightsFolder, language: str) -> None:
        # Imported here: whoever reads nothing, `--help` first of all, does not wait for them.
        import onnxruntime
        from tokenizers import Tokenizer

        self.tokenizer: Tokenizer = Tokenizer.from_str(folder.content(f"{language}/{TOKENIZER}").decode())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        content = gzip.decompress(folder.content(f"{language}/{NETWORK}"))
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def outputs(self, windows: Sequence[Window], *, threads: int | None = None) -> list[Output]:
        """Return the output for each window.

        Args:
            threads: how many windows are computed at a time; None: as many as this process has CPUs.
        """
        threads = threads or cpus_n()
        if threads == 1 or len(windows) < 2:
            return [self._output(window) for window in windows]
        return list(_pool(threads, os.getpid()).map(self._output, windows))

    def _output(self, window: Window) -> Output:
        import numpy as np

        given = {"ids": np.array([window], dtype=np.int64)}
        marks, topics, label = self._session.run(["marks", "topics", "label"], given)
        return Output(marks[0], topics[0], label[0])


def cpus_n() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    # The threads of a pool do not live on in a forked process: it gets a pool of its own.
    return ThreadPoolExecutor(threads, thread_name_prefix="episodic-absa-reader")
