"""Just enough of C++ for the lint: code without comments and literals, and where blocks begin and end."""

import dataclasses
import re

_SKIP = re.compile(
    r"""//[^\n]*                                     # line comment
      | /\*.*?\*/                                    # block comment
      | R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"   # raw string
      | "(?:\\.|[^"\\\n])*"                          # string
      | '(?:\\.|[^'\\\n])+'                          # character
    """,
    re.VERBOSE | re.DOTALL,
)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_CONTROL = re.compile(r"^(if|for|while|switch|do|else|try|catch|return)\b")


def blank_out(text):
    """The text with comments, literals and preprocessor lines replaced by spaces; line numbers stay."""

    def blank(match):
        # An apostrophe between digits (1'000) is a separator, not the start of a character.
        if match.group().startswith("'") and match.start() > 0 and text[match.start() - 1].isdigit():
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    text = re.sub(r"(?<=\d)'(?=[\dA-Fa-f])", " ", text)
    text = _SKIP.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: re.sub(r"[^\n]", " ", match.group()), text, flags=re.MULTILINE)


@dataclasses.dataclass
class Function:
    name: str
    first_line: int
    last_line: int

    @property
    def lines(self):
        return self.last_line - self.first_line + 1


@dataclasses.dataclass
class Statement:
    text: str
    line: int


def scan(text):
    """(functions, statements of namespace scope, statements inside functions) of one source file."""
    scanner = _Scanner(blank_out(text))
    scanner.run()
    return scanner.functions, scanner.global_statements, scanner.local_statements


class _Scanner:
    def __init__(self, code):
        self.code = code
        self.functions, self.global_statements, self.local_statements = [], [], []
        self.stack = []  # one entry an open brace: (kind, head, line where the head begins)
        self.head, self.head_line, self.line = "", 1, 1

    def run(self):
        parentheses = 0
        for character in self.code:
            if character == "{" and parentheses == 0:
                self.open()
            elif character == "}" and parentheses == 0:
                self.close()
            elif character == ";" and parentheses == 0:
                self.end_statement()
            else:
                parentheses += {"(": 1, ")": -1}.get(character, 0)
                self.add(character)
            if character == "\n":
                self.line += 1

    def add(self, character):
        if not self.head.strip():
            self.head_line = self.line
        self.head += character

    def kind_of(self, head):
        if self.inside_function():
            return "block"
        bare = re.sub(r"\btemplate\s*<[^{}]*?>\s*(?=class|struct|union|\w)", " ", head)
        if re.match(r"(inline\s+)?namespace\b|extern\s*$", bare.strip()):
            return "namespace"
        if _SCOPE.search(bare) and "(" not in re.sub(r"alignas\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)", "", bare):
            return "type"
        if re.search(r"\)[^:]*(?<!:):(?!:).*[\w>]$", head, re.DOTALL):
            return "initializer"  # of a member, between a constructor's parameters and its body
        if "(" in head and not re.search(r"=\s*$", head):
            return "function"
        return "initializer"

    def inside_function(self):
        return any(kind in ("function", "block", "initializer") for kind, _, _ in self.stack)

    def open(self):
        head = self.head.strip()
        kind = self.kind_of(head)
        self.stack.append((kind, self.head, self.head_line))
        self.head = ""

    def close(self):
        if not self.stack:
            return
        kind, head, line = self.stack.pop()
        if kind == "function":
            self.functions.append(Function(function_name(head), line, self.line))
        # An initialiser goes on until its semicolon: `int table[] = {…};`
        self.head = head + "{}" if kind == "initializer" else ""
        self.head_line = line

    def end_statement(self):
        statement = Statement(" ".join(self.head.split()), self.head_line)
        if statement.text:
            kinds = [kind for kind, _, _ in self.stack]
            if all(kind == "namespace" for kind in kinds):
                self.global_statements.append(statement)
            elif self.inside_function():
                self.local_statements.append(statement)
        self.head = ""


def function_name(head):
    """The name before the parameter list; a gtest case is named by its two arguments."""
    head = " ".join(head.split())
    case = re.match(r"TEST(?:_F|_P)?\s*\(\s*(\w+)\s*,\s*(\w+)", head)
    if case:
        return f"{case.group(1)}.{case.group(2)}"
    names = re.findall(r"((?:\w+::)*~?\w+|operator[^\s(]+)\s*\(", head)
    return names[0] if names else "?"


_DECLARATION_OF_NO_VARIABLE = re.compile(
    r"^(using|typedef|template|friend|static_assert|class|struct|union|enum|namespace|extern|concept|return|HWY_\w+)\b|\boperator\b"
)


def is_mutable_variable(statement):
    """A definition of a variable at namespace scope that is not constant. Best effort: no compiler is asked."""
    if _DECLARATION_OF_NO_VARIABLE.search(statement) or re.search(r"\b(const|constexpr)\b", statement):
        return False
    before_value = re.split(r"=|\{", statement, maxsplit=1)[0].strip()
    if "(" in before_value:
        return False  # a function's declaration, or a macro
    return re.match(r"^(?:\[\[.*?\]\]\s*)?[\w:<>,&*\s]+[\s&*>]\w+(?:\s*\[[^\]]*\])*$", before_value) is not None


def is_mutable_static(statement):
    """A function's own static or thread-local variable that is not constant."""
    if not re.search(r"(^|\s)(static|thread_local)\s", statement.split("=")[0].split("(")[0]):
        return False
    return not re.search(r"\b(const|constexpr)\b", statement.split("=")[0])
