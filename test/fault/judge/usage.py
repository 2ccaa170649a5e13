"""Memory and descriptors of a worker that runs for long.

Faults make both go up and down: new connections, longer lines. A leak never shrinks, so the least
of the last quarter is compared with the most of the second; the first warms up.
"""

SHORT = 120_000_000  # us: a shorter life is not judged
MORE_KB, MORE_SHARE = 2048, 1.1
MORE_FDS = 4


class Usage:
    def __init__(self, court):
        self.court = court
        self.told = []  # (label, seconds, (kB before, after), (descriptors before, after))

    def uses(self, life, now, rss, descriptors):
        life.usage.append((now, rss, descriptors))
        figures = self.court.figures
        figures["most_rss_kb"] = max(figures["most_rss_kb"], rss)
        figures["most_descriptors"] = max(figures["most_descriptors"], descriptors)

    def ends(self, lives):
        for life in lives:
            if life.kind == "library" and life.usage:
                self.judge(life)

    def judge(self, life):
        begin, end = life.usage[0][0], life.usage[-1][0]
        if end - begin < SHORT:
            return
        quarter = (end - begin) // 4
        before = [it for it in life.usage if quarter <= it[0] - begin < 2 * quarter]
        after = [it for it in life.usage if end - it[0] <= quarter]
        if not before:
            return
        self.told.append((life.label, (end - begin) // 1_000_000,
                          *((max(it[index] for it in before), min(it[index] for it in after))
                            for index in (1, 2))))
        for what, index, most in (("kB", 1, self.most_kb), ("descriptors", 2, self.most_fds)):
            was, is_now = max(it[index] for it in before), min(it[index] for it in after)
            if is_now > most(was):
                self.court.complain("growth", f"{life.label} has {is_now} {what}, after {was}")

    @staticmethod
    def most_kb(was):
        return max(was + MORE_KB, was * MORE_SHARE)

    @staticmethod
    def most_fds(was):
        return was + MORE_FDS
