"""Writes the manual pages: what people wrote in Tests/Manual, joined with what the program says of its options.

    generate_manual.py URLCACHE-ADMIN FOLDER

FOLDER is `share/man` to renew what is installed. A page of Tests/Manual begins with what follows the description that the
program gives itself, and goes on with its sections from EXAMPLES on; one of section 5 is taken as it is.
"""

import glob, json, os, re, subprocess, sys

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Manual")
DATE = "January 1, 2026"
SECTIONS = {
    "Search": "What to find, and where.\n",
    "Audit": "What to look for, and which findings are already known.\n",
    "Selection": "Different options are combined with AND, a repeated option with OR.\n",
    "Cache": "Which cache, and how it is opened.\n",
    "Output": "What is written, and how.\n",
    "Changes": "How entries are removed.\n",
    "Limits": "What the cache may occupy and contain.\n",
    "Schedule": "When the command runs, and for how long.\n",
    "Requests": "Which requests are sent.\n",
}
SHOP = """.Sq shop
is a cache that has this name in
.Xr urlcache-admin.conf 5 ;
you can also give a path.
.Pp
"""


def plain(text):
    """Text without the characters that are shown as others."""
    for character, name in [("'", r"\(aq"), ("`", r"\(ga"), ("~", r"\(ti"), ("^", r"\(ha")]:
        text = text.replace(character, name)
    return text


def escaped(text):
    """Text that stands for itself, also at the beginning of a line."""
    text = text.replace("\\", "\\e").replace("…", "...").replace('"', r"\(dq")
    text = plain(re.sub(r"(?<![A-Za-z0-9])-", r"\\-", text))
    text = "".join(character if ord(character) < 128 else f"\\[u{ord(character):04X}]" for character in text)
    return "\\&" + text if text.startswith(".") else text


def with_copied_examples(page):
    """A page whose examples have the characters of ASCII when they are read, so that they can be copied."""
    def copied(found):
        return found[1] + plain(re.sub(r"(?<!\\)-", r"\\-", found[2])) + found[3]

    page = re.sub(r"^(\.Dl )(.*)()$", copied, page, flags=re.MULTILINE)
    return re.sub(r"^(\.Bd .*\n)((?:.*\n)*?)(\.Ed)$", copied, page, flags=re.MULTILINE)


def lines(text):
    """Prose, a sentence a line."""
    return "\n".join(escaped(sentence) for sentence in re.split(r"(?<=[.:!?]) +(?=[A-Z])", text.strip())) + "\n"


def literal(rows):
    return ".Bd -literal -offset indent\n" + "\n".join(escaped(row) for row in rows) + "\n.Ed\n"


def blocks(text):
    """Paragraphs of a help text: prose is filled, what is indented or numbered stays as it is."""
    result = []
    for block in re.split(r"\n\s*\n", text):
        rows = block.split("\n")
        if re.match(r"\S+ {2,}\S", rows[0]):
            cells = table(rows)
            widest = max((tag for tag, _ in cells), key=len)
            result.append(listed((f".It {escaped(tag)}\n{lines(text)}" for tag, text in cells), width=widest))
        elif all(row.startswith("  ") or re.match(r"\d ", row) for row in rows):
            indent = min(len(row) - len(row.lstrip()) for row in rows)
            result.append(literal([row[indent:] for row in rows]))
        else:
            result.append(lines(" ".join(row.strip() for row in rows)))
    return result


def table(rows):
    """The rows of a table with two columns; a row that is indented continues the one before."""
    cells = []
    for row in rows:
        if row.startswith(" "):
            cells[-1][1] += " " + row.strip()
        else:
            cells.append(row.split(None, 1))
    return cells


def paragraphs(texts):
    """Texts with space between them, of which a display or a list has its own."""
    return "".join(text if number == 0 or text.startswith((".Bd", ".Bl")) else ".Pp\n" + text for number, text in enumerate(texts))


def parts(discussion):
    """The text of a discussion without its headings, and what is below each: the lines that are indented."""
    text, headed, rows = [], {}, None
    for row in discussion.split("\n"):
        if re.fullmatch(r"[A-Z][A-Z ]+", row):
            rows = headed.setdefault(row, [])
        elif rows is not None and (row.startswith("  ") or not row):
            rows.append(row.removeprefix("  "))
        else:
            # Between what is before a section and what follows it, an empty line may be missing.
            text += [""] * (rows is not None) + [row]
            rows = None
    return "\n".join(text).strip(), {title: "\n".join(rows).strip("\n") for title, rows in headed.items()}


def name(argument, which):
    return ("Fl -" if which["kind"] == "long" else "Fl ") + which["name"]


def value(argument):
    words = escaped(argument["valueName"])
    return f" Ar {words}" if argument["kind"] != "flag" else ""


def item(argument):
    if argument["kind"] == "positional":
        tag = ".It Ar " + escaped(argument["valueName"]) + (" ..." if argument["isRepeating"] else "")
    else:
        names = [name(argument, which) + value(argument) for which in argument["names"]]
        tag = ".It " + " , ".join(names)
    text = argument["abstract"]
    values = argument.get("allValues", [])
    if values and not all(word in text for word in values):
        text += f" One of {', '.join(values)}."
    if argument.get("defaultValue") and "default" not in text:
        text += f" The default is {argument['defaultValue']}."
    if argument["isRepeating"] and argument["kind"] == "option" and not argument.get("sectionTitle"):
        text += " Can be repeated." if "repeated" not in text else ""
    return tag + "\n" + lines(text)


def listed(items, width="Ds"):
    return f".Bl -tag -width {width}\n" + "".join(items) + ".El\n"


def options(command):
    arguments = [argument for argument in command["arguments"] if argument["shouldDisplay"]]
    own = [argument for argument in arguments if not argument.get("sectionTitle")]
    result = listed(item(argument) for argument in own)
    for title, intro in SECTIONS.items():
        group = [argument for argument in arguments if argument.get("sectionTitle") == title]
        if group:
            result += f".Ss {title}\n{intro}" + listed(item(argument) for argument in group)
    assert {argument.get("sectionTitle") for argument in arguments} <= {None, *SECTIONS}
    return result


def synopsis(command, words):
    result = f".Nm {words}\n.Op Ar options\n"
    for argument in command["arguments"]:
        if argument["kind"] == "option" and not argument["isOptional"]:
            result += f".{name(argument, argument['names'][0])}{value(argument)}\n"
        elif argument["kind"] == "positional" and argument["shouldDisplay"]:
            tag = "Ar " + escaped(argument["valueName"]) + (" ..." if argument["isRepeating"] else "")
            result += f".Op {tag}\n" if argument["isOptional"] else f".{tag}\n"
    return result


def statuses(text):
    """What each exit status means, of one line of a help text."""
    pairs = re.split(r"\s+·\s+|\n\s*(?=(?:0|1|3|6\d|7\d|130|143) )", text.strip())
    return {pair.split(None, 1)[0]: " ".join(pair.split()[1:]) for pair in pairs}


def standard_statuses(words=""):
    """What the statuses of a command mean; of all commands without one."""
    result = {}
    with open(os.path.join(SOURCES, "exit-statuses")) as file:
        for line in file:
            if found := re.fullmatch(r"(\d+) (.*): (all but )?(.*)\n", line):
                status, meaning, isWithout, names = found.groups()
                # A name of commands stands for all its subcommands.
                isNamed = any(name in (words, words.split(" ")[0], "all") for name in names.split(", "))
                if not words or isNamed != bool(isWithout):
                    result[status] = meaning
    return result


def exit_status(text, words=""):
    standard, items = standard_statuses(words), {}
    for status, text in statuses(text).items():
        assert status in standard or int(status) < 64, (words, status, text)
        # What adds to the meaning that the status has for all commands.
        if status in standard and text.startswith(("or ", "with ")):
            text = f"{standard[status]}; {text}"
        items[status] = text
    return listed(f".It {status}\n{lines(text)}" for status, text in sorted({**standard, **items}.items(), key=lambda item: int(item[0])))


def described(command):
    """What a command says of itself, and what is below its headings."""
    before, headed = parts(command.get("discussion", ""))
    # The reader of a manual page needs no reference to it.
    texts = [text for text in (blocks(before) if before else []) if "'man urlcache" not in text.replace("\\(aq", "'")]
    return paragraphs([lines(command["abstract"]), *texts]), headed


def subsections(headed):
    return "".join(f".Ss {title.capitalize()}\n" + paragraphs(blocks(text)) for title, text in headed.items()
                   if title != "EXAMPLES")


def head(title, section, description):
    return (f".\\\" Made by Tests/Scripts/generate_manual.py; the prose is in Tests/Manual.\n.Dd {DATE}\n.Dt {title.upper()} {section}\n.Os\n"
            f".Sh NAME\n.Nm {title}\n.Nd {escaped(description)}\n")


def split(source):
    """What is written before the first section, the exit statuses by subcommand (`None` for a page without), and the other sections."""
    before, found, after = source.partition(".Sh ")
    texts = {}
    if after.startswith("EXIT STATUS\n"):
        text, found, after = after.removeprefix("EXIT STATUS\n").partition(".Sh ")
        first, *children = re.split(r"^\.Ss (\S+)$\n", text, flags=re.MULTILINE)
        texts = dict(zip(children[::2], children[1::2])) or {None: first}
    after = found + after
    return before, texts, after.replace(".Sh EXAMPLES\n", ".Sh EXAMPLES\n" + (SHOP if "shop" in after else ""), 1)


def lowered(abstract):
    return abstract[0].lower() + abstract[1:].rstrip(".")


def verb_page(command):
    verb = command["commandName"]
    with open(os.path.join(SOURCES, f"urlcache-admin-{verb}.1")) as file:
        before, status_texts, after = split(file.read())
    words = f"urlcache-admin {verb}"
    children = command.get("subcommands", [])
    result = head(f"urlcache-admin-{verb}", 1, lowered(command["abstract"])) + ".Sh SYNOPSIS\n"
    for child in children or [command]:
        result += synopsis(child, f"{words} {child['commandName']}" if children else words)
    sections = {"DESCRIPTION": "", "OPTIONS": "", "EXIT STATUS": ""}
    for child in children or [command]:
        text, headed = described(child)
        heading = f".Ss {words} {child['commandName']}\n" if children else ""
        sections["DESCRIPTION"] += heading + text
        assert not (children and subsections(headed))
        sections["OPTIONS"] += heading + options(child)
        sections["EXIT STATUS"] += heading + exit_status(
            status_texts[child["commandName"] if children else None], f"{verb} {child['commandName']}" if children else verb)
    aliases = command.get("aliases", [])
    if aliases:
        sections["DESCRIPTION"] += f".Pp\nThe command has the alias\n.Cm {aliases[0]} .\n"
    sections["DESCRIPTION"] += ".Pp\n" * (before != "") + before + subsections(headed)
    for title, text in sections.items():
        result += f".Sh {title}\n{text}"
    return result + after


def root_page(root):
    with open(os.path.join(SOURCES, "urlcache-admin.1")) as file:
        before, status_texts, after = split(file.read())
    text, headed = described(root)
    items = []
    for command in root["subcommands"]:
        if command["commandName"] == "help" or not command["shouldDisplay"]:
            continue
        names = "".join(f" , Cm {alias}" for alias in command.get("aliases", []))
        items.append(f".It Cm {command['commandName']}{names}\n{lines(command['abstract'])}"
                     f"See\n.Xr urlcache-admin-{command['commandName']} 1 .\n")
    return (head("urlcache-admin", 1, lowered(root["abstract"])) + ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar options\n"
            + f".Sh DESCRIPTION\n{text}.Pp\n{before}.Ss Commands\n{listed(items)}.Sh OPTIONS\n{options(root)}"
            + "@ENVIRONMENT@" + f".Sh EXIT STATUS\n{exit_status(status_texts[None])}" + after)


def main(tool, folder):
    help_text = subprocess.run([tool, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    root = json.loads(help_text)["command"]
    pages = {}
    for command in root["subcommands"]:
        if command["commandName"] != "help" and command["shouldDisplay"]:
            pages[f"man1/urlcache-admin-{command['commandName']}.1"] = verb_page(command)
    with open(os.path.join(SOURCES, "environment")) as file:
        pages["man1/urlcache-admin.1"] = root_page(root).replace("@ENVIRONMENT@", file.read())
    for path in glob.glob(os.path.join(SOURCES, "*.5")):
        with open(path) as file:
            pages["man5/" + os.path.basename(path)] = file.read()
    for path, text in pages.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(with_copied_examples(text))
    return sorted(pages)


if __name__ == "__main__":
    main(*sys.argv[1:])
