"""How far a long run has got."""

import sys
import time

from boxcar import _core


class progress:
    """A `with` block that counts the calls of operators of its thread, and shows their number while they run.

        with boxcar.progress("training", total=None):
            ...

    tqdm draws the line where it is installed; otherwise a line on stderr says how it goes, once a second. `count` has the
    number of calls. Calls that kernels make are not counted.
    """

    def __init__(self, text="boxcar", total=None, *, every=0.1):
        self._text, self._total, self._every = text, total, every
        self.count = 0

    def __enter__(self):
        self._bar = _bar(self._text, self._total)
        self._shown = 0
        self._next = time.monotonic() + self._every
        self._scope = _core.handler(self._count)
        self._scope.__enter__()
        return self

    def _count(self, op, args):
        self.count += 1
        now = time.monotonic()
        if now >= self._next:
            self._show(now)
        return _core.redispatch(op, args)

    def _show(self, now):
        self._bar.update(self.count - self._shown)
        self._shown = self.count
        self._next = now + self._every

    def __exit__(self, *error):
        self._scope.__exit__(*error)
        del self._scope
        self._show(time.monotonic())
        self._bar.close()


def _bar(text, total):
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(text, total)
    return tqdm(desc=text, total=total, unit=" calls")


class _Line:
    """What tqdm does, as far as a terminal without it needs it."""

    def __init__(self, text, total):
        self._text, self._total = text, total
        self._start = time.monotonic()
        self._count = 0
        self._next = self._start + 1
        self._is_shown = False

    def update(self, calls):
        self._count += calls
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 1
        of = f" of {self._total}" if self._total else ""
        print(f"\r{self._text}: {now - self._start:.0f} s, {self._count}{of} calls", end="", file=sys.stderr, flush=True)
        self._is_shown = True

    def close(self):
        if self._is_shown:
            print(file=sys.stderr)
