"""A writer in a process of its own: appends episodes and acknowledges each one on standard output.

With --talk it afterwards obeys one word per line of standard input: read, append or end.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import MemoryStore, load_catalogue, open_store
from episodic_absa.memory.episodes.leak_guard import refuse_open_vocabulary
from episodic_absa.schemas.memory_v1_1 import EpisodeDraftV1_1
from episodic_absa.serialization.durable_file import DurableFile


class SlowFile(DurableFile):
    """Writes a line in many small pieces, so that a kill lands inside one."""

    def write_some(self, data: Any) -> int:
        time.sleep(0.0003)
        return super().write_some(data[:80])


def say(word: str) -> None:
    os.write(1, f"{word}\n".encode())


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("location")
    parser.add_argument("--source", default="s-1")
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--lock-timeout-s", type=float, default=60.0)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--talk", action="store_true")
    parser.add_argument("--compact-to", type=int)
    options = parser.parse_args()
    draft = json.loads(Path(__file__).parents[1].joinpath("episode.json").read_text(encoding="utf-8"))
    draft["provenance"]["source_id"] = options.source
    patience_s = options.lock_timeout_s
    store = (
        MemoryStore(options.location, keep_last_n=10**6, lock_timeout_s=patience_s, open_file=SlowFile)
        if options.slow
        else open_store(options.location, keep_last_n=10**6, lock_timeout_s=patience_s)
    )
    # Read the vocabularies first: the killer's moments should fall into appends, not into the start.
    refuse_open_vocabulary(EpisodeDraftV1_1.model_validate(draft), load_catalogue())
    say("ready")
    try:
        for index in range(options.count):
            draft["provenance"]["sample_index"] = index
            say(store.append(draft).episode_id)
            if options.compact_to:
                store.compact(options.compact_to)
    except MemoryStoreError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 3
    if options.talk:
        say("done")
        for line in sys.stdin:
            word = line.strip()
            if word == "append":
                say(store.append(draft).episode_id)
            elif word == "read":
                say(json.dumps([[e.episode_id, e.provenance.source_id] for e in store.load()]))
            else:
                break
    return 0


if __name__ == "__main__":
    sys.exit(main())
