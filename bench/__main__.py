"""A number of feeds in; what a cold, a warm and a mixed pass over them cost, as a table or JSON lines, out.

Every feed has its own host (its own 127/8 address), so that each visit is a new connection. What runs is the whole
embedded system, `junkai run` as a user starts it; the three passes are made by one running system, as they are in life.
What is counted is all of its processes: in the cold pass from its start on, which is shown apart, too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import corpus, growth, measure
from bench.origin import Asked, Origin
from bench.running import RunningSystem, Spent
from junkai.fleet import Work

_SHARE_NEW: Final = 20  #: in a mixed pass one file in 20 has two new entries …
_SHARE_TOUCHED: Final = 20  #: … and three in 20 the same bytes with a new validator


def main() -> int:
    """Run the passes; 1 where a budget is exceeded or the origin was asked more than once per feed."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="junkai-bench-", dir=options.folder) as name:
        folder = Path(name)
        folder.chmod(0o755)  # nginx, started by root, serves as another user
        root = folder / "www"
        files = corpus.write_corpus(root)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        ours, theirs = (cores[0], cores[1]) if len(cores) > 1 else (None, None)
        with Origin(folder, root, core=theirs) as origin:
            bench = _Bench(folder, origin, options.feeds, core=ours)
            bench.subscribe(files)
            with RunningSystem(folder, store="bench.db", core=ours) as system:
                rows = [bench.one_pass("cold", system), bench.one_pass("warm", system)]
                _change(files)
                rows.append(bench.one_pass("mixed", system))
            grown = bench.grown(options.registered, options.runs) if options.growth else None
    sys.stdout.write("".join(json.dumps(row) + "\n" for row in rows) if options.json else _table(rows))
    if grown is not None:
        sys.stdout.write(json.dumps(grown._asdict()) + "\n" if options.json else _grown(grown, options.feeds))
    return _verdict(rows, grown, options)


class _Bench:
    """A store, and the passes over it."""

    def __init__(self, folder: Path, origin: Origin, feeds: int, *, core: int | None) -> None:
        self._folder = folder
        self._origin = origin
        self._feeds = feeds
        self._core = core
        self._before = _Before(Spent(0.0, 0.0), Work())

    def subscribe(self, files: list[Path]) -> None:
        """Import the list of feeds."""
        outlines = "".join(
            f'<outline xmlUrl="http://{_address(n)}:{self._origin.port}/{files[n % len(files)].name}"/>\n'
            for n in range(self._feeds)
        )
        (self._folder / "list.opml").write_text(f'<opml version="2.0"><body>\n{outlines}</body></opml>')
        (self._folder / "list.txt").write_text("\n".join(re.findall(r'xmlUrl="([^"]+)"', outlines)))
        self._junkai("import", "list.opml")
        self._origin.take_log()

    def one_pass(self, kind: str, system: RunningSystem) -> dict[str, Any]:
        """Have every feed visited once more; what it cost the system, per visit."""
        peak, began_s = system.peak(), time.monotonic()
        if kind != "cold":
            growth.make_due(self._folder / "bench.db", self._feeds)
        snapshot = system.wait_for_visits(self._before.work.visits + self._feeds)
        before, self._before = self._before, _Before(system.spent(), snapshot.work)
        seconds = time.monotonic() - began_s
        pass_ = _Pass(kind, before, self._before, seconds, peak.stop(), self._origin.take_log())
        row = _row(pass_, self._feeds)
        row["bound_ms_per_visit"] = round(self._bound_s() * 1000 / self._feeds, 3)
        row["times_bound"] = round(row["cpu_ms_per_visit"] / row["bound_ms_per_visit"], 2)
        return row

    def _bound_s(self) -> float:
        """CPU seconds of the same pass in the least program that could do it, just after ours and on the same core."""
        run = measure.run(
            [sys.executable, "-m", "bench.bound", str(self._folder / "list.txt"), str(self._folder / "bound.db")],
            folder=Path(__file__).parent.parent,
            environ={},
            core=self._core,
        )
        self._origin.take_log()
        return run.cpu_s

    def grown(self, registered: int, runs: int) -> growth.Growth:
        """The warm pass beside 10,000 registered feeds and beside many, in turns. Each store has one pass first, which
        brings its pages into memory."""
        few = max(10_000, self._feeds)
        names = {feeds: f"{feeds}.db" for feeds in (few, registered)}
        for feeds, name in names.items():
            growth.fill(growth.copied(self._folder / "bench.db", name), feeds - self._feeds)
        pairs = []
        for _ in range(runs + 1):
            few_ms, many_ms = (self._again(name) for name in names.values())
            pairs.append((few_ms, many_ms))
        return growth.growth(few, registered, pairs[1:])

    def _again(self, store: str) -> float:
        """CPU milliseconds a visit of one more warm pass over a store, whose other feeds are not due."""
        growth.make_due(self._folder / store, self._feeds)
        run = self._junkai("run", "--once", "--json", store=store)
        visits: int = _summary(run)["visits"]
        if visits != self._feeds:
            raise SystemExit(f"bench: {visits} visits over {store}, not {self._feeds}")
        return run.cpu_s * 1000 / visits

    def _junkai(self, *arguments: str, store: str = "bench.db") -> measure.Run:
        return measure.run(
            [str(Path(sys.executable).with_name("junkai")), *arguments, "--store", f"sqlite:///{store}"],
            folder=self._folder,
            environ={"JUNKAI_ALLOW_NETWORKS": "127.0.0.0/8", "JUNKAI_STATUS_PORT": "0", "JUNKAI_WEB_PORT": "0"},
            core=self._core,
        )


def _summary(run: measure.Run) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(run.output.splitlines()[-1])
    return summary


class _Before(NamedTuple):
    """How far a system was before a pass."""

    spent: Spent
    work: Work


class _Pass(NamedTuple):
    kind: str
    before: _Before
    after: _Before
    seconds: float
    peak_mb: float
    asked: Asked


def _row(measured: _Pass, feeds: int) -> dict[str, Any]:
    before, after, asked = measured.before, measured.after, measured.asked
    done = {name: getattr(after.work, name) - getattr(before.work, name) for name in Work.__struct_fields__}
    visits = done["visits"] or 1
    user_s, system_s = after.spent.user_s - before.spent.user_s, after.spent.system_s - before.spent.system_s
    return {
        "pass": measured.kind,
        "feeds": feeds,
        "visits": done["visits"],
        "failed": done["failed"],
        "cpu_ms_per_visit": round((user_s + system_s) * 1000 / visits, 3),
        "user_ms": round(user_s * 1000 / visits, 3),
        "system_ms": round(system_s * 1000 / visits, 3),
        "visits_per_s": round(visits / measured.seconds),
        "peak_mb": round(measured.peak_mb),
        "requests_per_feed": round(asked.requests / feeds, 4),
        "most_requests_of_a_feed": asked.most_per_feed,
        "feeds_asked": asked.feeds,
        "not_modified": asked.not_modified,
        "conditional": asked.conditional,
        "hosts_claimed": done["hosts_claimed"],
        "hosts_claimed_idle": done["hosts_claimed_idle"],
        "entries_new": done["entries_new"],
        "entries_updated": done["entries_updated"],
    }


#: (heading, key, format)
_COLUMNS: Final = (
    ("pass", "pass", "s"),
    ("CPU ms/visit", "cpu_ms_per_visit", ".3f"),
    ("user", "user_ms", ".3f"),
    ("system", "system_ms", ".3f"),
    ("bound", "bound_ms_per_visit", ".3f"),
    ("× bound", "times_bound", ".2f"),
    ("visits/s", "visits_per_s", ","),
    ("peak MB", "peak_mb", ","),
    ("requests/feed", "requests_per_feed", ".4f"),
    ("304", "not_modified", ","),
    ("visits", "visits", ","),
    ("failed", "failed", ","),
    ("hosts claimed", "hosts_claimed", ","),
    ("idle", "hosts_claimed_idle", ","),
    ("new entries", "entries_new", ","),
)


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [[heading for heading, _, _ in _COLUMNS]]
    lines += [[format(row[key], how) for _, key, how in _COLUMNS] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n" for line in lines
    )


def _grown(grown: growth.Growth, feeds: int) -> str:
    return (
        f"{feeds:,} due of {grown.few:,} registered: {grown.few_ms:.3f} ms a visit; of {grown.many:,}:"
        f" {grown.many_ms:.3f} ms ({grown.more_ms:+.3f} ms, {grown.more_ms / grown.few_ms:+.1%})\n"
    )


def _address(number: int) -> str:
    """The loopback address of a feed: 127.16.0.1 and on, never ending in 0 or 255."""
    high, low = divmod(number, 254)
    return f"127.{16 + (high >> 8)}.{high & 255}.{low + 1}"


def _change(files: list[Path]) -> None:
    """5 % of the files gain two entries, 15 % a new validator with the same bytes, 80 % stay."""
    for number, path in enumerate(files):
        place = number % _SHARE_NEW
        if place == 0:
            body = corpus.document(number, random.Random(number), more=2)
            # New entries in front of the old text, byte for byte: only they are news.
            old = path.read_bytes()
            mark = b"<item>" if b"<item>" in old else b"<entry>"
            new_items = mark.join([b"", *body.split(mark)[1:3]])
            head, _, rest = old.partition(mark)
            corpus.write(path, head + new_items + mark + rest)
        elif place in (1, 2, 3):
            moment = path.stat().st_mtime + 60
            for each in (path, path.with_name(f"{path.name}.gz")):
                os.utime(each, (moment, moment))


def _verdict(rows: list[dict[str, Any]], grown: growth.Growth | None, options: argparse.Namespace) -> int:
    """0, or 1 with a line for each thing that does not hold."""
    limits = {"cold": options.cold_max, "warm": options.warm_max, "mixed": options.mixed_max}
    complaints = []
    for row in rows:
        limit = limits[row["pass"]]
        if limit is not None and row["cpu_ms_per_visit"] > limit:
            complaints.append(f"{row['pass']}: {row['cpu_ms_per_visit']} ms CPU a visit is over {limit}")
        if row["most_requests_of_a_feed"] != 1 or row["feeds_asked"] != row["feeds"]:
            complaints.append(f"{row['pass']}: not exactly one request to each feed")
        if row["failed"]:
            complaints.append(f"{row['pass']}: {row['failed']} visits failed")
        if row["peak_mb"] > options.mb_max:
            complaints.append(f"{row['pass']}: {row['peak_mb']} MB are over {options.mb_max}")
        if row["hosts_claimed_idle"] * 100 >= row["hosts_claimed"]:
            complaints.append(f"{row['pass']}: {row['hosts_claimed_idle']} hosts were claimed with nothing due")
    if grown is not None and grown.more_ms > max(0.05, 0.1 * grown.few_ms):
        complaints.append(
            f"{grown.many:,} registered feeds cost {grown.more_ms:.3f} ms a visit more than {grown.few:,}"
        )
    for complaint in complaints:
        sys.stderr.write(f"bench: {complaint}\n")
    return 1 if complaints else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("--feeds", type=int, default=5_000, help="each on its own loopback address")
    parser.add_argument("--growth", action="store_true", help="then the warm pass beside 10,000 and many feeds")
    parser.add_argument("--registered", type=int, default=1_000_000, help="how many are many")
    parser.add_argument("--runs", type=int, default=5, help="of each, interleaved; the medians count")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each pass")
    parser.add_argument("--cold-max", type=float, default=4.0, help="budget, CPU ms a visit")
    parser.add_argument("--warm-max", type=float, default=0.6, help="budget, CPU ms a visit")
    parser.add_argument("--mixed-max", type=float, default=0.9, help="budget, CPU ms a visit")
    parser.add_argument("--mb-max", type=int, default=250, help="budget, MB of all processes together (peak PSS)")
    parser.add_argument("--folder", type=Path, default=None, help="where the temporary folder goes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
