"""Lets objects that hold a lock notice that their process was forked: the child must not use the parent's lock."""

import os
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

OwnerT = TypeVar("OwnerT")


def call_in_forked_child(owner: OwnerT, reopen: Callable[[OwnerT], None]) -> None:
    """Have `reopen(owner)` called in every child that this process forks, as long as the owner lives.

    It runs in the child before anything else does.
    """
    _reopens[owner] = reopen


def _after_fork_in_child() -> None:
    for owner, reopen in list(_reopens.items()):
        reopen(owner)


_reopens: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()
os.register_at_fork(after_in_child=_after_fork_in_child)
