"""How runs that cut a trace into layers went, counted apart: exact, low confidence, abstained,
confidently wrong. A confident wrong cut is the worst result; exact is exact whatever the confidence.
"""

from collections import Counter

# At or above it the program calls a cut certain (formats/profiles.md, docs/design.md).
CONFIDENT = 0.7
OUTCOMES = ("exact", "low confidence", "abstained", "confidently wrong")


def outcome(exact, abstained, confidence):
    """Of one run: whether every figure is the truth's, whether no layers were given, how sure it was.
    A wrong cut without a confidence counts as a confident one."""
    if exact:
        return "exact"
    if abstained:
        return "abstained"
    unsure = confidence is not None and confidence < CONFIDENT
    return "low confidence" if unsure else "confidently wrong"


class Stats:
    """Counts by group of runs, in the order in which groups appear."""

    def __init__(self):
        self.groups = {}
        self.wrong = []
        self.lowest_exact = {}

    def add(self, group, what, result, confidence=None):
        self.groups.setdefault(group, Counter())[result] += 1
        if result == "confidently wrong":
            self.wrong.append(f"{group}: {what}")
        if result == "exact" and confidence is not None:
            self.lowest_exact[group] = min(confidence, self.lowest_exact.get(group, 1.0))

    def print(self, title):
        """The table, then every confidently wrong run."""
        width = max([len(group) for group in self.groups] + [5])
        heads = [*OUTCOMES, "least sure exact"]
        print(f"{title}\n{'group'.ljust(width)}  " + "  ".join(heads))
        for group, counts in [*self.groups.items(), ("total", sum(self.groups.values(), Counter()))]:
            cells = [str(counts[name]) for name in OUTCOMES]
            low = self.lowest_exact.get(group)
            cells.append("" if low is None else f"{low:.3f}")
            print(f"{group.ljust(width)}  " +
                  "  ".join(cell.rjust(len(head)) for cell, head in zip(cells, heads)))
        for what in self.wrong:
            print(f"confidently wrong: {what}")
