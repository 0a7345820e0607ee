"""Results, one JSON object a line, appended as they come: a run that was stopped goes on where it was."""

import json
from pathlib import Path


class Journal:
    """Without a path the results live in memory only."""

    def __init__(self, path):
        self.path = path and Path(path)
        self.rows = {}
        if self.path and self.path.exists():
            for line in self.path.read_text().splitlines():
                self.remember(json.loads(line))

    def remember(self, row):
        self.rows[key(row)] = row

    def finished(self, row):
        """A row that failed is tried again."""
        return "error" not in self.rows.get(key(row), {"error": "not yet run"})

    def add(self, row):
        self.remember(row)
        if self.path:
            with open(self.path, "a") as file:
                file.write(json.dumps(row, default=float) + "\n")

    def get(self, row):
        return self.rows[key(row)]


def key(row):
    return tuple(row.get(name) for name in ("job", "set", "split", "who", "preset"))
