"""Compares the published figures of the named documents (default: all) with ours.

Writes the records to results/verification. The exit status is 1 if a check fails.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tests.validation import DOCUMENTS
from tests.validation.comparison import RESULTS, compute, record_of, save


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.validation", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DOCUMENTS))
    names = parser.parse_args(arguments).names or DOCUMENTS
    if unknown := set(names) - set(DOCUMENTS):
        parser.error(f"no document {min(unknown)!r}; choose from {', '.join(DOCUMENTS)}")
    held = True
    for name in names:
        ours = compute(name)
        record = record_of(name, ours)
        save(record, ours)
        print(f"{RESULTS / name}.md: {record['verdict']}")
        for check in record["checks"]:
            if check["holds"] != "yes":
                print(f"  {check['claim']}: {check['found']} > {check['bound']} {check['unit']}")
        held = held and record["holds"]
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
