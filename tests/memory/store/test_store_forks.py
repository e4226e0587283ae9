"""A forked child has a lock of its own, so it never acknowledges an id that its parent gives."""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.memory.store_places import StorePlace, opened
from tests.warm_python import WarmProcess, run_warm

# The parent appends, and forks in the middle: outside of a block that holds the lock, inside of one, and while another
# thread holds it. Every process writes the ids that it was acknowledged to a pipe.
FORKS = """
import json, os, sys, threading
from pathlib import Path
from episodic_absa.errors import MemoryStoreError
from episodic_absa.memory import open_store

episode = json.loads(Path(sys.argv[2]).read_text())
store = open_store(sys.argv[1], lock_timeout_s=20)
ids, give = os.pipe()

def append(count):
    for _ in range(count):
        os.write(give, f"{store.append(episode).episode_id}\\n".encode())

def forked(work):
    child = os.fork()
    if child:
        return child
    try:
        work()
    except MemoryStoreError as error:
        os.write(give, f"refused: {error}\\n".encode())
    finally:
        os._exit(0)

append(2)
early = [forked(lambda: append(10)) for _ in range(3)]
append(10)
with store.writing():
    append(1)
    early.append(forked(lambda: append(5)))
    append(5)
is_held, may_end = threading.Event(), threading.Event()
def hold():
    with store.writing():
        is_held.set()
        may_end.wait()
holder = threading.Thread(target=hold)
holder.start()
is_held.wait()
early.append(forked(lambda: append(5)))
may_end.set()
holder.join()
append(5)
for child in early:
    os.waitpid(child, 0)
os.close(give)
sys.stdout.write(os.fdopen(ids).read())
"""

# The child outlives its parent, which dies inside of the block.
ORPHAN = """
import os, sys
from episodic_absa.memory import open_store

with open_store(sys.argv[1]).writing():
    if os.fork():
        os._exit(0)
    sys.stdout.write("alive\\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)
"""
EPISODE_FILE = Path(__file__).parents[1] / "episode.json"


def test_no_id_is_acknowledged_by_two_of_several_forked_processes(place: StorePlace) -> None:
    done = run_warm(["-c", FORKS, place.location, EPISODE_FILE], loads_engine=False)
    assert (done.returncode, done.stderr) == (0, "")
    acknowledged = done.stdout.splitlines()
    assert Counter(acknowledged) == Counter(f"epi_{number:06d}" for number in range(1, 64))
    with opened(place) as store:
        assert [episode.episode_id for episode in store.load()] == sorted(acknowledged)
        assert store.check().is_sound


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_child_does_not_keep_the_lock_of_a_parent_that_died(place: StorePlace) -> None:
    wait, end = os.pipe()
    with WarmProcess(["-c", ORPHAN, place.location], stdin=wait, loads_engine=False) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"alive\n"
        assert parent.wait(60) == 0
        with opened(place, lock_timeout_s=5.0) as store, store.writing():
            pass
        os.close(end)
        os.close(wait)
