"""Check golden answers, or write them anew.

    python -m tests.golden [NAME ...]           what differs; exit status 1 if anything
    python -m tests.golden --write [NAME ...]   the same, and write the files

NAME is a case or a group of `cases.toml`; without one, all. Read `git diff` after
writing: every change in it was meant, or is a defect.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.golden.answers import answers, golden_file, layout, select
from tests.golden.differences import differences_from_file

MOST = 20  # differences of a case that are printed


def main() -> int:
    """Run the cases that are named and say what differs; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a case or a group")
    parser.add_argument("--write", action="store_true", help="write the files anew")
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    for group in select(options.names):
        begin = time.perf_counter()
        for case, answer in answers(group):
            seconds, begin = time.perf_counter() - begin, time.perf_counter()
            if options.names and not {case, group.name} & set(options.names):
                continue
            found = differences_from_file(case, answer)
            kinds.update(each.kind for each in found)
            print(f"{case}: {len(found)} differences, {seconds:.1f} s", flush=True)
            for each in found[:MOST]:
                print(f"  {each}")
            if len(found) > MOST:
                print(f"  ... {len(found) - MOST} more")
            if options.write:
                golden_file(case).write_text(layout(answer) + "\n")
    print(*(f"{kind}: {count}" for kind, count in sorted(kinds.items())), sep="\n")
    return 1 if kinds and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
