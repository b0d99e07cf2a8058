"""Signal handlers that raise at random times while `train` runs on two threads.

python tests/storm.py INTERRUPTIONS SEED: fails unless each exception comes out as it was raised, no thread is left, and
what follows finds the same bits. A run that hangs for 20 seconds ends the process, with a traceback of all threads.

A StopIteration may also come out as the cause of a RuntimeError. Python makes one of it where it leaves a generator
(PEP 479), and the handler may run in any.
"""

import faulthandler
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import pnorm

sys.path.append(str(Path(__file__).parent))
import workers

KINDS = KeyboardInterrupt, RuntimeError, StopIteration
ROWS = 33_000
"""Of either side: together a few more than one thread does by itself."""

generator = np.random.default_rng(0)
POS, NEG = generator.normal(0.3, 1.0, (ROWS, 5)), generator.normal(size=(ROWS, 5))


def run():
    return pnorm.train(POS, NEG, p=4, t_max=6, n_threads=2)[0].tobytes()


def seconds():
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def comes_out(error, seen):
    return seen is error or (isinstance(error, StopIteration) and getattr(seen, "__cause__", None) is error)


def main(wanted, seed):
    expected, usual = run(), sorted(seconds() for _ in range(5))[2]
    raised, counts = [], Counter()

    def handler(*_):
        raised.append(KINDS[counts["raised"] % len(KINDS)]("mine"))
        raise raised[-1]

    signal.signal(signal.SIGALRM, handler)
    random.seed(seed)
    threads = workers.running()
    while counts["raised"] < wanted:
        faulthandler.dump_traceback_later(20, exit=True)
        seen = None
        raised.clear()
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, usual))
            run()
            signal.setitimer(signal.ITIMER_REAL, 0)  # the last call in which the handler may run
        except BaseException as error:
            seen = error
        faulthandler.cancel_dump_traceback_later()
        counts["runs"] += 1
        if raised:
            counts["raised"] += 1
            out = comes_out(raised[0], seen)
            counts[f"{type(raised[0]).__name__}, {'out' if out else 'lost'}, as {type(seen).__name__}"] += 1
            counts["lost"] += not out
        counts["threads left"] += workers.left(threads) > 0
        if counts["runs"] % 50 == 0:
            counts["other bits"] += run() != expected
    counts["other bits"] += run() != expected
    print(*(f"{what}: {n}" for what, n in sorted(counts.items())), sep="\n")
    return bool(counts["lost"] or counts["threads left"] or counts["other bits"])


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
