"""Opens a store, forks, and lets parent and children append: python forked_writers.py STORE CHILDREN EACH THREADS

Each acknowledged id is a line of standard output. The parent has written before it forks, so that its descriptors,
its lock and what it has read are those of the children too.
"""

import json
import os
import sys
import threading
from pathlib import Path

from episodic_absa.memory import MemoryStore

EPISODE = json.loads((Path(__file__).parents[1] / "memory" / "episode.json").read_text("utf-8"))


def main() -> None:
    path, children, each, threads = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    store = MemoryStore(path, keep_last_n=10**6, lock_timeout_s=120)

    def acknowledge(source: str) -> None:
        draft = {**EPISODE, "provenance": {**EPISODE["provenance"], "source_id": source}}
        os.write(1, f"{store.append(draft).episode_id}\n".encode())

    def append_each(who: str) -> None:
        for _ in range(each):
            acknowledge(who)

    def append_all(who: str) -> None:
        workers = [threading.Thread(target=append_each, args=[who]) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    acknowledge("parent")
    pids = []
    for child in range(children):
        pid = os.fork()
        if pid == 0:
            append_all(f"child-{child}")
            os._exit(0)
        pids.append(pid)
    append_all("parent")
    for pid in pids:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    acknowledge("parent")


if __name__ == "__main__":
    main()
