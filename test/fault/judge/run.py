"""The file `run`: the settings of the run, its duration, and its limits."""

NUMBERS = ("seed", "masters", "workers", "ttl_ms", "max_ttl_ms", "skew_ms", "quarantine_ms",
           "begin", "end", "holders", "longest_ms", "availability")
IF_TOLD = ("grown", "spare", "permits", "least_use", "generations", "latches",
           "takeover_ms", "changes")


class Run:
    def __init__(self, lines):
        """Raises ValueError or KeyError if a value is missing or makes no sense."""
        told = dict(line.split(" ", 1) for line in lines)
        self.profile = told["profile"]
        self.names = told["names"].split(",")
        for key in NUMBERS:
            value = float(told[key])
            setattr(self, key, int(value) if value == int(value) else value)
        for key in IF_TOLD:
            setattr(self, key, float(told.get(key, 0)) if key == "least_use" else int(told.get(key, 0)))
        self.recipes = {kind: int(many) for kind, many in
                        (it.split("=") for it in told.get("recipes", "").split(",") if it)}
        self.quorum = (self.masters + self.spare + 2) // 2
        self.ttl = self.ttl_ms * 1000
        self.quarantine = self.quarantine_ms * 1000


def read_run(folder):
    with open(folder / "run", encoding="ascii") as file:
        return Run(file.read().splitlines())
