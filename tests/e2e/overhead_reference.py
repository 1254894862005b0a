"""The step budget a second time, written from its definition in docs/overhead.md alone: every elementary
interval of a step's window is asked on its own which line it goes to. Slow, and nothing is shared with
the program, but what other tests compare: which steps there are, and the category of a name.
"""

from bisect import bisect_right

LINES = ("compute", "exposed_comm", "comm_wait", "memcpy", "queued_gap", "launch_gap", "host_wait",
         "between_steps", "unexplained")
BUSY = LINES[:2] + LINES[3:4]


def synchronises(name):
    for api in ("cuda", "cu", "hip"):
        if name.startswith(api):
            return "Synchronize" in name or (name[len(api):].startswith("Memcpy") and "Async" not in name)
    return False


class Step:
    """An annotation that is a step: its process and thread, and its bounds in ns."""

    def __init__(self, process, thread, start, length):
        self.process, self.thread, self.start, self.end = process, thread, start, start + max(length, 0)
        self.members = []
        self.window, self.lines = (start, start), dict.fromkeys(LINES, 0)

    @property
    def wall(self):
        return self.window[1] - self.window[0]

    @property
    def busy(self):
        """The union of the members, whatever device they ran on."""
        total, reached = 0, None
        for start, end in sorted((a.start, max(a.end, a.start)) for a in self.members):
            start = start if reached is None else max(start, reached)
            total += max(end - start, 0)
            reached = end if reached is None else max(reached, end)
        return total


class Budget:
    """The steps of one process with what ran for it. An activity has start, end, kind, name, index and
    launch (a call or None); a call has start, end, name and thread; `graph` says whether an activity's
    launch is a graph launch."""

    def __init__(self, steps, activities, calls, category, graph):
        self.steps, self.category, self.graph = steps, category, graph
        self.activities = sorted(activities, key=lambda a: (a.start, a.index))
        self.starts = [a.start for a in self.activities]
        self.ended = []  # by activity: the last end of it and those before
        for activity in self.activities:
            end = max(activity.end, activity.start)
            self.ended.append(max(end, self.ended[-1]) if self.ended else end)
        self.waits = {}
        for call in calls:
            if synchronises(call.name):
                self.waits.setdefault(call.thread, []).append((call.start, call.end))
        for activity in self.activities:
            step = self.step_of(activity)
            if step:
                step.members.append(activity)
        self.set_windows()
        for step in self.steps:
            if step.wall:
                self.fill(step)

    def step_of(self, activity):
        """The innermost step of the launch's thread, else the last started of its process."""
        launch = activity.launch
        if launch is None:
            return None
        around = [s for s in self.steps if s.start <= launch.start < s.end]
        own = [s for s in around if s.thread == launch.thread]
        found = own or around
        best = None
        for step in found:
            if best is None or (step.start, -step.end) >= (best.start, -best.end):
                best = step
        return best

    def set_windows(self):
        reached = None
        for step in self.steps:
            begin = step.start if reached is None else reached
            if step.members:
                reached = max(begin, max(max(a.end, a.start) for a in step.members))
                step.window = (begin, reached)
            else:
                step.window = (begin, begin)

    def fill(self, step):
        begin, end = step.window
        edges = {begin, end}
        for activity in self.activities:
            edges.update((activity.start, activity.end))
        for waits in self.waits.values():
            edges.update(t for wait in waits for t in wait)
        edges.update(t for s in self.steps for t in (s.start, s.end))
        inside = sorted(t for t in edges if begin <= t <= end)
        first = bisect_right(self.starts, begin)
        # What began before the window and may still run in it.
        running = [a for a in self.activities[:first] if a.end > begin]
        for left, right in zip(inside, inside[1:]):
            now = bisect_right(self.starts, left)
            running = [a for a in running if a.end > left]
            running += [a for a in self.activities[first:now] if a.end > left]
            first = max(first, now)
            step.lines[self.line_of(left, running)] += right - left

    def line_of(self, time, running):
        """The line of an instant just after `time`, at which no interval begins or ends."""
        busy = {self.busy_line(activity) for activity in running}
        for line in BUSY:
            if line in busy:
                return line
        at = bisect_right(self.starts, time)
        following = self.activities[at]
        if following.launch is None:
            return "unexplained"
        if at > 0:
            idle_since = self.ended[at - 1]
            if following.launch.end <= idle_since:
                return "queued_gap"
            if self.graph(following) and any(
                    a.launch is following.launch for a in self.activities[:at]):
                return "queued_gap"
        if any(start <= time < end for start, end in self.waits.get(following.launch.thread, ())):
            return "host_wait"
        if any(step.start <= time < step.end for step in self.steps):
            return "launch_gap"
        return "between_steps"

    def busy_line(self, activity):
        if activity.kind in ("memcpy", "memset"):
            return "memcpy"
        is_communication = self.category.get(activity.name) == "communication"
        return "exposed_comm" if activity.kind == "kernel" and is_communication else "compute"

