"""Random chat templates and contexts from a grammar of the whole language, for comparison with jinja2.

Expressions are made for a wanted type, so that most templates render instead of failing at their first operation; now and
then any expression stands in, so that failures are met too. The same seed gives the same cases.
"""
import random, string

LETTERS = ["a", "b", "Z", "ä", "ß", "日", "😀", " ", " ", "\n", "\t", "<", "&", "'", '"', "\\", "{", "%", "-", "_", "1", "0", "É", "\u2028", "\u00a0", "ﬁ"]
KEYS = ["name", "role", "content", "id", "items", "keys", "x y", "ü", "type", "0", "n"]
SCALARS = ("str", "int", "num", "bool")


def text(r, longest=12):
    return "".join(r.choice(LETTERS) for _ in range(r.randint(0, longest)))


def value(r, depth=3):
    """Any JSON value."""
    kind = r.random()
    if depth <= 0 or kind < 0.55:
        return r.choice([lambda: text(r), lambda: text(r), lambda: r.randint(-20, 2000), lambda: r.choice([0.5, -1.25, 3.0, 1e20, 1e-7, 2.675]),
                         lambda: r.random() < 0.5, lambda: None, lambda: r.choice([2**53 + 1, 2**63, -2**63])])()
    if kind < 0.78:
        return [value(r, depth - 1) for _ in range(r.randint(0, 4))]
    return {key: value(r, depth - 1) for key in r.sample(KEYS, r.randint(0, 4))}


def context(r):
    """The variables of one case; their names tell their types to the grammar below."""
    rows = [{"name": text(r, 5), "n": r.randint(-3, 9), "role": r.choice(["user", "assistant", "tool"]), "content": r.choice([None, text(r), [{"type": "text", "text": text(r)}]])}
            for _ in range(r.randint(0, 4))]
    tree = lambda depth: [{"n": r.randint(0, 9), "kids": tree(depth - 1)} for _ in range(r.randint(0, 2))] if depth else []
    return {"s": text(r), "t": text(r, 30), "i": r.randint(-5, 40), "j": r.randint(0, 5), "f": r.choice([0.5, -1.5, 2.0, 3.14159, 1e6]), "b": r.random() < 0.5,
            "words": " ".join(text(r, 4).strip() or "w" for _ in range(5)), "ints": [r.randint(-9, 9) for _ in range(r.randint(0, 5))],
            "strs": [text(r, 4) for _ in range(r.randint(0, 5))], "d": {key: value(r, 2) for key in r.sample(KEYS, r.randint(1, 5))},
            "rows": rows, "tree": tree(3), "any": value(r), "nil": None}


def literal(r, s):
    """A string literal in either quotes, some characters escaped."""
    quote = r.choice("'\"")
    out = ""
    for c in s:
        if c in (quote, "\\"):
            out += "\\" + c
        elif c == "\n":
            out += r.choice(["\\n", "\n"])
        elif c == "\t":
            out += r.choice(["\\t", "\t"])
        elif ord(c) > 127 and ord(c) < 0x10000 and r.random() < 0.3:
            out += f"\\u{ord(c):04x}"
        else:
            out += c
    return quote + out + quote


class Grammar:
    def __init__(self, r):
        self.r = r
        self.loops = 0
        self.names = {"str": ["s", "t", "words"], "int": ["i", "j"], "num": ["i", "f"], "bool": ["b"], "list": ["ints", "strs", "rows"],
                      "ints": ["ints"], "strs": ["strs"], "rows": ["rows"], "dict": ["d"], "any": ["any", "nil", "undef", "d.name", "any.x"]}

    def pick(self, *choices):
        return self.r.choice(choices)

    # ---- expressions ----

    def expr(self, type, depth=2):
        if self.r.random() < 0.015:
            type = self.pick("str", "int", "list", "dict", "any")
        made = getattr(self, type)(depth)
        return f"({made})" if self.r.random() < 0.15 else made

    def name(self, type):
        return self.r.choice(self.names[type])

    def str(self, depth):
        r, e = self.r, self.expr
        if depth <= 0:
            return self.pick(self.name("str"), self.name("str"), literal(r, text(r, 6)))
        d = depth - 1
        s = lambda: e("str", d)
        kind = r.randrange(12)
        if kind == 0:
            return f"{s()} {self.pick('~', '+')} {s()}"
        if kind == 1:
            return f"{s()} ~ {e(self.pick('int', 'num', 'bool', 'list', 'dict', 'any'), d)}"
        if kind == 2:
            return f"({s()})[{self.slice(d)}]"
        if kind == 3:
            return f"({s()} if {e('bool', d)} else {s()})"
        if kind == 4:
            method = self.pick("upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "lstrip()", "rstrip()", "strip('ab ')", "lstrip('<')",
                               "rstrip('\\n')", f"replace({literal(r, text(r, 2))}, {literal(r, text(r, 3))})", "replace('a', 'bb', 1)", "zfill(6)", "center(9)", "ljust(7, '.')",
                               "rjust(7)", "expandtabs(4)", "removeprefix('a')", "removesuffix('b')", "casefold()", "format(1)", "join(strs)", "join(['x', 'y'])")
            return f"({s()}).{method}"
        if kind == 5:
            filter = self.pick("upper", "lower", "title", "capitalize", "trim", "trim('a')", "replace('a', 'zz')", "replace(' ', '', 1)", "indent", "indent(2)",
                               "indent(3, true)", "indent('> ', first=true)", "indent(1, blank=true)", "truncate(8)", "truncate(6, true, '…', 0)", "wordwrap(6)",
                               "wordwrap(9, break_long_words=false)", "center(11)", "e", "forceescape", "striptags", "urlencode", "string", "default('D')",
                               "default('D', true)", "format(1)", "reverse", "safe")
            return f"({s()})|{filter}"
        if kind == 6:
            return f"({e(self.pick('list', 'strs', 'ints'), d)})|join({self.pick('', repr(', '), literal(r, text(r, 2)))})"
        if kind == 7:
            options = self.pick("", "indent=2", "indent=0", "ensure_ascii=true", "sort_keys=true", "separators=(',', ':')", "indent=1, sort_keys=true", "indent=4, separators=(', ', ' : ')")
            return f"({e(self.pick('list', 'dict', 'any', 'str', 'num'), d)})|tojson({options})"
        if kind == 8:
            parts = self.pick(("'%s-%s' % (", ")"), ("'{} {}'.format(", ")"), ("'{1}{0!r}'.format(", ")"), ("'%r%5s' % (", ")"), ("'{:>8}|{:<6}'.format(", ")"))
            return f"{parts[0]}{s()}, {s()}{parts[1]}"
        if kind == 9:
            return self.pick("'%d|%5d|%-4d|%x|%05.1f' % (i, j, i, j, f)", "'{:,} {:+d} {:06.2f} {:e}'.format(i, j, f, f)", f"({e('int', d)})|string", "i|filesizeformat",
                             "(f|round(1))|string", f"({e('any', d)})|string", "d|dictsort|string", "words.split()|last", "rows|map(attribute='name')|join('+')")
        if kind == 10:
            return f"({e('strs', d)})|{self.pick('first', 'last', 'max', 'min', 'join')}"
        return f"{s()} * {self.pick('2', '0', 'j')}"

    def int(self, depth):
        r, e = self.r, self.expr
        if depth <= 0:
            return self.pick(self.name("int"), str(r.randint(0, 12)), "0x1F", "1_000", "-3")
        d = depth - 1
        n = lambda: e("int", d)
        return self.pick(lambda: f"{n()} {self.pick('+', '-', '*', '//', '%')} {n()}", lambda: f"({n()}) ** 2", lambda: f"({e('list', d)})|length", lambda: f"({e('str', d)})|length",
                         lambda: f"({e('str', d)}).{self.pick('count', 'find', 'rfind')}({literal(r, text(r, 1))})", lambda: f"({e('str', d)})|wordcount",
                         lambda: f"({e('ints', d)})|{self.pick('sum', 'max', 'min', 'first', 'last', 'sum(start=10)')}", lambda: f"({e('str', d)})|int({self.pick('', '7', '0, 16')})",
                         lambda: f"-{n()}", lambda: f"({n()})|abs", lambda: f"({e('num', d)})|int", lambda: f"({e('list', d)})|count",
                         lambda: f"(1 if {e('bool', d)} else {n()})", lambda: "rows|sum(attribute='n')")()

    def num(self, depth):
        e = self.expr
        if depth <= 0:
            return self.pick(self.name("num"), "2.5", "1e3", "0.1")
        d = depth - 1
        return self.pick(lambda: f"{e('num', d)} {self.pick('+', '-', '*', '/')} {e('num', d)}", lambda: f"({e('num', d)})|round({self.pick('', '1', '2', '0, ' + repr('floor'), '1, ' + repr('ceil'))})",
                         lambda: f"({e('str', d)})|float", lambda: f"({e('num', d)})|abs", lambda: e("int", d))()

    def bool(self, depth):
        r, e = self.r, self.expr
        if depth <= 0:
            return self.pick(self.name("bool"), "true", "false", "undef", "nil", "i > 3", "s is defined")
        d = depth - 1
        tests = ("defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable", "true", "false", "callable", "escaped",
                 "sameas nil", "sameas(none)", "in [1, 'a', none]", "in(any)", "eq(1)", "ne 'a'", "equalto s", "filter", "test")
        return self.pick(lambda: f"{e('bool', d)} {self.pick('and', 'or')} {e('bool', d)}", lambda: f"not {e('bool', d)}",
                         lambda: f"{e('num', d)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {e('num', d)}", lambda: f"{e('str', d)} {self.pick('==', '!=', '<', 'in', 'not in')} {e('str', d)}",
                         lambda: f"{e('any', d)} {self.pick('==', '!=')} {e('any', d)}", lambda: f"{e('any', d)} {self.pick('in', 'not in')} {e(self.pick('list', 'dict'), d)}",
                         lambda: f"({e(self.pick('any', 'str', 'int', 'list', 'dict'), d)}) is {self.pick('', 'not ')}{r.choice(tests)}",
                         lambda: f"({e('int', d)}) is {self.pick('odd', 'even', 'divisibleby 3', 'gt 2', 'lt(5)', 'ge j', 'le(i)')}",
                         lambda: f"({e('str', d)}) is {self.pick('lower', 'upper', 'string')}", lambda: f"({e('str', d)}).{self.pick('isdigit()', 'isalpha()', 'isalnum()', 'isspace()', 'islower()', 'isupper()', 'istitle()')}",
                         lambda: f"({e('str', d)}).{self.pick('startswith', 'endswith')}({self.pick(literal(r, text(r, 1)), '(' + repr('a') + ', ' + repr('b') + ')')})",
                         lambda: f"{e('int', d)} < {e('int', d)} <= {e('int', d)}")()

    def strs(self, depth):
        e = self.expr
        if depth <= 0:
            return self.pick(self.name("strs"), "['a', 'B']", "words.split()")
        d = depth - 1
        return self.pick(lambda: f"({e('str', d)}).{self.pick('split()', 'split(None, 1)', 'rsplit(maxsplit=2)', 'splitlines()', 'splitlines(true)', 'partition(' + repr(' ') + ')', 'rpartition(' + repr('a') + ')', 'split(' + repr('a') + ')', 'rsplit(' + repr(' ') + ', 1)')}|list",
                         lambda: f"({e('strs', d)})|{self.pick('sort', 'sort(reverse=true)', 'sort(case_sensitive=true)', 'unique|list', 'reverse|list', 'map(' + repr('upper') + ')|list', 'map(' + repr('replace') + ', ' + repr('a') + ', ' + repr('b') + ')|list', 'select|list', 'reject(' + repr('eq') + ', ' + repr('a') + ')|list', 'map(' + repr('trim') + ')|list')}",
                         lambda: f"({e('strs', d)})[{self.slice(d)}]", lambda: f"{e('strs', d)} + {e('strs', d)}", lambda: f"rows|map(attribute='{self.pick('name', 'role')}')|list",
                         lambda: f"[{e('str', d)}, {e('str', d)}]", lambda: f"d.keys()|list", lambda: f"({e('str', d)})|list")()

    def ints(self, depth):
        e = self.expr
        if depth <= 0:
            return self.pick(self.name("ints"), "[3, 1, 2]", "range(j)|list")
        d = depth - 1
        return self.pick(lambda: f"({e('ints', d)})|{self.pick('sort', 'sort(reverse=true)', 'unique|list', 'reverse|list', 'select(' + repr('odd') + ')|list', 'reject(' + repr('gt') + ', 2)|list', 'map(' + repr('abs') + ')|list', 'select|list')}",
                         lambda: f"({e('ints', d)})[{self.slice(d)}]", lambda: f"{e('ints', d)} + {e('ints', d)}", lambda: f"range({self.pick('j', '1, 9, 3', '5, 0, -2', 'i', '-2, j')})|list",
                         lambda: f"[{e('int', d)}, {e('int', d)},]", lambda: f"({e('ints', d)}) * {self.pick('2', '0')}", lambda: "rows|map(attribute='n')|list")()

    def rows(self, depth):
        if depth <= 0:
            return "rows"
        return self.pick("rows|selectattr('content')|list", "rows|rejectattr('content')|list", "rows|selectattr('role', 'eq', 'user')|list", "rows|sort(attribute='n')", "rows|sort(attribute='role,n', reverse=true)",
                         "rows|rejectattr('content', 'none')|list", "rows|unique(attribute='role')|list", "rows[1:]", "rows[::-1]", "rows|selectattr('content', 'string')|list")

    def list(self, depth):
        e = self.expr
        if depth <= 0:
            return self.pick(self.name("list"), "[]", "[1, 'x', none, [true]]", "(1, 2)")
        d = depth - 1
        return self.pick(lambda: e("strs", d), lambda: e("ints", d), lambda: e("rows", d), lambda: f"[{e('any', d)}, {e('str', d)}]", lambda: f"({e('dict', d)}).{self.pick('keys()', 'values()', 'items()')}|list",
                         lambda: f"({e('dict', d)})|{self.pick('dictsort', 'items|list', 'list', 'dictsort(reverse=true)')}", lambda: f"({e('list', d)})|{self.pick('batch(2)', 'slice(2)', 'batch(3, 0)', 'slice(3, ' + repr('x') + ')')}|list",
                         lambda: "rows|groupby('role')|list", lambda: "rows|groupby('n', default=0)|map('first')|list", lambda: f"({e('list', d)})[{self.slice(d)}]",
                         lambda: f"({e('any', d)}, {e('int', d)})", lambda: f"({e('str', d)}).partition('a')")()

    def dict(self, depth):
        r, e = self.r, self.expr
        if depth <= 0:
            return self.pick(self.name("dict"), "{}", "{'a': 1, 'b': [2]}", "dict(x=1)")
        d = depth - 1
        key = lambda: literal(r, r.choice(KEYS))
        return self.pick(lambda: f"{{{key()}: {e('any', d)}, {key()}: {e('str', d)}}}", lambda: f"dict({e('dict', d)}, z={e('int', d)})", lambda: f"dict(a={e('str', d)}, b={e('list', d)})",
                         lambda: "tree[0]", lambda: "rows|first", lambda: f"({e('dict', d)}).copy()")()

    def any(self, depth):
        e = self.expr
        if depth <= 0:
            return self.pick(self.name("any"), self.name("str"), self.name("int"), "none", "[]", "1.5")
        d = depth - 1
        key = lambda: literal(self.r, self.r.choice(KEYS))
        return self.pick(lambda: f"({e('dict', d)})[{key()}]", lambda: f"({e('dict', d)}).get({key()}{self.pick('', ', 5', ', s')})", lambda: f"({e('dict', d)}).{self.pick('name', 'id', 'type', 'n')}",
                         lambda: f"({e('list', d)})[{self.pick('0', '-1', '1', 'j', '99')}]", lambda: f"({e('list', d)})|{self.pick('first', 'last')}", lambda: f"({e('any', d)})|default({e('any', d)}{self.pick('', ', true')})",
                         lambda: e(self.pick(*SCALARS, "list", "dict"), d), lambda: f"{e('any', d)} {self.pick('and', 'or')} {e('any', d)}", lambda: f"({e('any', d)} if {e('bool', d)})",
                         lambda: "rows[0].content", lambda: f"({e('any', d)})|string|trim")()

    def slice(self, d):
        bound = lambda: self.pick("", "", "1", "-1", "2", "0", "j", "-3", "9")
        return bound() + ":" + bound() + self.pick("", "", ":", ":-1", ":2", ":" + bound())

    # ---- statements ----

    def tag(self, body):
        sign = lambda signs: self.r.choice(signs)
        return "{%" + sign(["", "", "", "-", "+"]) + " " + body + " " + sign(["", "", "", "-", "+"]) + "%}"

    def space(self):
        return self.pick("", "", " ", "\n", "  \n", "\n  ", "x", " y\n", "{# note #}", "{#- a\n-#}", "<|t|>", "\n\n", "{% raw %}{{ }}{% endraw %}")

    def body(self, depth, least=1):
        return self.space() + "".join(self.statement(depth - 1) for _ in range(self.r.randint(least, 2))) + self.space()

    def with_names(self, names, make):
        """Runs `make` while variables of these types exist."""
        outer = {type: list(known) for type, known in self.names.items()}
        for type, name in names:
            self.names[type].append(name)
        made = make()
        self.names = outer
        return made

    def statement(self, depth):
        r, e = self.r, self.expr
        output = lambda: self.space() + "{{" + self.pick("", "-", "+") + " " + e(self.pick("str", "str", *SCALARS, "list", "dict", "any")) + " " + self.pick("", "-") + "}}" + self.space()
        if depth <= 0:
            return output()
        kind = r.randrange(16)
        if kind < 3:
            return output()
        if kind < 5:
            middle = "".join(self.tag("elif " + e("bool")) + self.body(depth) for _ in range(r.randint(0, 1)))
            otherwise = self.tag("else") + self.body(depth) if r.random() < 0.5 else ""
            return self.tag("if " + e("bool")) + self.body(depth) + middle + otherwise + self.tag("endif")
        if kind < 8:
            return self.loop(depth)
        if kind == 8:
            name = self.pick("v", "w", "s", "i")
            type = {"s": "str", "i": "int"}.get(name, "any")
            made = self.tag(f"set {name} = {e(type)}")
            self.names[type].append(name)
            return made
        if kind == 9:
            return self.tag(f"set s{self.pick('', '|trim', '|upper', '|replace(' + repr('a') + ', ' + repr('b') + ')')}") + self.body(depth) + self.tag("endset") + "{{ s }}"
        if kind == 10:
            return (self.tag(f"set ns = namespace({self.pick('', 'k=1, ')}t={e('str')})") + self.tag(f"for x in {e('list')}") + self.tag(f"set ns.t = ns.t ~ {self.pick('x', 'loop.index', 'loop.last')}")
                    + self.tag("endfor") + "{{ ns.t }}{{ ns.k }}{{ ns.q is defined }}")
        if kind == 11:
            return self.macro(depth)
        if kind == 12:
            return (self.tag(f"macro box({self.pick('', 'a', 'a, c=1')})") + "<" + "{{ caller(" + self.pick("", "1", "s, j") + ") }}" + ">" + self.tag("endmacro")
                    + self.tag(f"call{self.pick('', '(p)', '(p, q=2)')} box({self.pick('', 'i', '1, c=s')})") + self.with_names([("any", "p")], lambda: self.body(depth)) + self.tag("endcall"))
        if kind == 13:
            return self.tag(f"with v = {e('any')}, k = {e('str')}") + self.with_names([("any", "v"), ("str", "k")], lambda: self.body(depth)) + self.tag("endwith")
        if kind == 14:
            return self.tag("filter " + self.pick("upper", "trim", "length", "replace(' ', '')", "indent(2)|trim", "e", "default('x')")) + self.body(depth) + self.tag("endfilter")
        return self.pick(lambda: self.tag("generation") + self.body(depth) + self.tag("endgeneration"), lambda: self.tag(f"print {e('any')}"),
                         lambda: "{% if " + e("bool") + " and b %}{{ raise_exception(" + e("str") + ") }}{% endif %}",
                         lambda: "{{ strftime_now(" + literal(r, r.choice(["%Y-%m-%d", "%d %b %Y", "%A, %B %-d", "%H:%M:%S %p %j", "%% %y"])) + ") }}",
                         lambda: self.tag("set cy = cycler('a', 'b')") + self.tag("for x in ints") + "{{ cy.next() }}" + self.tag("endfor"),
                         lambda: self.tag(f"set {self.pick('v, w', '(v, w)')} = {e('any')}, {e('any')}") + "{{ v }}{{ w }}",
                         lambda: self.tag("set jn = joiner(', ')") + self.tag("for x in strs") + "{{ jn() }}{{ x }}" + self.tag("endfor"))()

    def loop(self, depth):
        r, e = self.r, self.expr
        self.loops += 1
        kind = r.randrange(6)
        facts = ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem", "nextitem", "cycle('odd', 'even')", "changed(x)"]
        inner = "".join("{{ loop." + r.choice(facts) + " }}" for _ in range(r.randint(0, 2)))
        inner += self.pick("", "", "{% if loop.index == 2 %}{% break %}{% endif %}", "{% if loop.first %}{% continue %}{% endif %}", "{% if not loop.last %},{% endif %}")
        if kind == 0:
            body = "{{ x.n }}" + self.pick("", "{{ loop.depth }}") + "{% if x.kids %}[{{ loop(x.kids) }}]{% endif %}"
            made = self.tag("for x in tree recursive") + body + self.tag("endfor")
        elif kind == 1:
            made = self.tag(f"for k, x in ({e('dict')}).items()") + self.with_names([("str", "k"), ("any", "x")], lambda: inner + self.body(depth)) + self.tag("endfor")
        else:
            types = self.pick(("strs", "str"), ("ints", "int"), ("rows", "dict"), ("list", "any"), ("str", "str"))
            condition = self.pick("", "", f" if {self.pick('x', 'x is string', 'x != 1', 'loop is defined', e('bool', 1))}")
            otherwise = self.tag("else") + self.body(depth) if r.random() < 0.3 else ""
            made = self.tag(f"for x in {e(types[0])}{condition}") + self.with_names([(types[1], "x")], lambda: inner + self.body(depth)) + otherwise + self.tag("endfor")
        self.loops -= 1
        return made

    def macro(self, depth):
        name = self.pick("m", "show")
        parameters = self.pick("a", "a, c=2", "a, c=s", "a='d'", "a, c=[]")
        body = self.with_names([("any", "a")], lambda: self.body(depth))
        body += self.pick("", "", "{{ varargs }}", "{{ kwargs }}", "{{ c }}", "{{ caller is defined }}", "{{ varargs|length }}{{ kwargs|dictsort }}")
        call = self.pick(self.expr("any", 1), f"a={self.expr('str', 1)}", f"1, c={self.expr('any', 1)}", "1, 2, 3", "1, z=4", "*ints", "**{'a': s}", "")
        return self.tag(f"macro {name}({parameters})") + body + self.tag("endmacro") + "{{ " + f"{name}({call})" + " }}" + self.pick("", "{{ %s.name }}{{ %s.arguments }}" % (name, name))

    def template(self):
        return "".join(self.statement(self.r.randint(1, 3)) for _ in range(self.r.randint(1, 4))) + self.pick("", "\n", "\n\n")


def case(seed):
    """One template and its context."""
    r = random.Random(seed)
    return Grammar(r).template(), context(r)
