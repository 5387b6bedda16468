"""The one reviewed list of exceptions to the rules."""

LIST = "tools/lint/exceptions.txt"


class Exceptions:
    """Lines "rule target limit reason" for budgets and "rule target - reason" for the rest."""

    def __init__(self, tree):
        self._rows, self._used = {}, set()
        for number, line in enumerate(tree.text(LIST).splitlines(), 1):
            if line and not line.startswith("#"):
                rule, target, limit, _reason = line.split(None, 3)  # a line without a reason is refused here
                self._rows[rule, target] = (number, limit)

    def limit(self, rule, target, default):
        if (rule, target) not in self._rows:
            return default
        self._used.add((rule, target))
        return int(self._rows[rule, target][1])

    def covers(self, rule, target):
        if (rule, target) not in self._rows:
            return False
        self._used.add((rule, target))
        return True

    def unused(self):
        return [("exceptions", LIST, row[0], f"{key[0]} {key[1]}: excuses no file") for key, row in self._rows.items() if key not in self._used]
