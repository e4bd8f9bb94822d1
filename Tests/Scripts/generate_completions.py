"""Writes the completion scripts for bash, zsh and fish, made of those of ArgumentParser.

    generate_completions.py URLCACHE-ADMIN FOLDER

FOLDER is `share` to renew what is installed. What ArgumentParser writes is mended here, each part for a reason that is
told with it; a part that is not found as often as expected ends the script, so that no newer version passes by unseen.
"""

import json, os, re, subprocess, sys

PLACES = {
    "bash": "bash-completion/completions/urlcache-admin",
    "zsh": "zsh/site-functions/_urlcache-admin",
    "fish": "fish/vendor_completions.d/urlcache-admin.fish",
}
ASK_CACHE = "---completion list -- --cache"


def output(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True, env={}).stdout


def aliases_of(command):
    """The other names of commands, with their names."""
    return {alias: child["commandName"] for child in command["subcommands"] for alias in child.get("aliases", [])}


def names_of(command):
    """The names of the commands that there is help about."""
    return [child["commandName"] for child in command["subcommands"] if child["commandName"] != "help" and child["shouldDisplay"]]


class Script:
    """A script, whose parts are replaced."""

    def __init__(self, text):
        self.text = text

    def replace(self, old, new, count=1):
        found = self.text.count(old)
        assert found == count, (found, old)
        self.text = self.text.replace(old, new)

    def replace_each(self, pattern, new, count):
        self.text, found = re.subn(pattern, new, self.text, flags=re.MULTILINE)
        assert found == count, (found, count, pattern)


def options(command, condition):
    """The number of options of a command and those below it for which a condition holds."""
    own = sum(1 for argument in command.get("arguments", []) if condition(argument))
    return own + sum(options(child, condition) for child in command.get("subcommands", []))


def is_asked(argument):
    return "custom" in argument.get("completionKind", {})


def is_cache(argument):
    return is_asked(argument) and (argument["kind"] == "positional" or argument["preferredName"]["name"] == "cache")


def mend_bash(script, root, aliases):
    # A file of completions is not run by itself.
    script.replace("#!/bin/bash\n\n", "")
    # 'compgen -W' expands its words as the shell does, so that the name of a host could run a program.
    asked = r'__urlcache-admin_add_completions -W "\$\(__urlcache-admin_custom_complete (---completion [a-z -]+ -- (?:--?[a-z-]+|positional@[01])) .*$'
    script.replace_each(asked, r"__urlcache-admin_add_asked \1", options(root, is_asked))
    script.text = re.sub(
        r"__urlcache-admin_cursor_index_in_current_word\(\) \{\n.*?^\}\n\n", "", script.text, flags=re.M | re.S)
    script.replace_each(r"__urlcache-admin_custom_complete\(\) \{\n(?:.*\n)*?\}\n", r'''# Offers what the program answers, each line as it is: 'compgen -W' would expand it.
__urlcache-admin_add_asked() {
    local word
    while IFS='' read -r word; do
        [[ -n "${word}" && "${word}" = "${cur}"* ]] && COMPREPLY+=("${word}")
    done < <("${words[0]}" "${@}" "${cword}" "${#cur}" "${words[@]}" 2>/dev/null)
}
''', 1)
    # A cache has a name or a path.
    script.replace_each(r"^( *)(__urlcache-admin_add_asked .* -- (?:--cache|positional@[01]))$",
                        r"\1\2\n\1__urlcache-admin_add_completions -f", options(root, is_cache))
    # There is help about commands.
    help_function = "    non_repeating_options=()\n    __urlcache-admin_offer_flags_options -1\n}\n"
    script.replace(help_function, help_function.replace(
        "}", f"    [[ \"${{positional_number}}\" -eq 1 ]] && COMPREPLY+=($(compgen -W '{' '.join(names_of(root))}' -- \"${{cur}}\"))\n}}"))
    # Bash takes '=' for a word; and what names the cache may stand before the command.
    script.replace('''    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")
''', '''    # '--format=json' is three words to bash, and two here.
    local -a words=()
    local -i index cword=0
    local cur="${2}"
    for index in "${!COMP_WORDS[@]}"; do
        if [[ "${index}" -eq "${COMP_CWORD}" ]]; then
            cword="${#words[@]}"
            if [[ "${COMP_WORDS[${index}]}" = '=' ]]; then
                cur=''
                words+=('')
                continue
            elif [[ -z "${cur}" && -n "${COMP_WORDS[${index}]}" ]]; then
                # The cursor is before a word.
                words+=('')
            fi
        elif [[ "${COMP_WORDS[${index}]}" = '=' && "${COMP_WORDS[${index} - 1]}" = --* ]]; then
            continue
        fi
        words+=("${COMP_WORDS[${index}]}")
    done
    local -r cur
    local -r prev="${words[${cword} - 1]}"

    local -i positional_number
    local -a unparsed_words=("${words[@]:1:${cword}}")
''')
    script.replace('''    local -a non_repeating_options=()
    __urlcache-admin_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
''', f'''    # What names the cache may stand before the command.
    local -a non_repeating_options=(-c --cache --config)
    __urlcache-admin_offer_flags_options 0
    if [[ "${{#unparsed_words[@]}}" -eq 0 ]]; then
        case "${{prev}}" in
        '-c'|'--cache')
            __urlcache-admin_add_asked {ASK_CACHE}
            __urlcache-admin_add_completions -f
            return
            ;;
        '--config')
            __urlcache-admin_add_completions -o plusdirs -fX '!*.@(toml)'
            return
            ;;
        esac
    fi

    # Offer subcommand / subcommand argument completions
    local subcommand="${{unparsed_words[0]}}"
    case "${{subcommand}}" in
''' + "".join(f"    {alias}) subcommand={name} ;;\n" for alias, name in aliases.items()) + "    esac\n")


def mend_zsh(script, root, aliases):
    def has_value(argument):
        return argument["kind"] == "option" and argument["shouldDisplay"]

    # '--format=json' is as good as '--format json'.
    long = options(root, lambda argument: has_value(argument) and len(argument["names"]) == 1)
    script.replace_each(r"^( *'\*?--[a-z-]+)(\[(?:[^\\\]]|\\.)*\]:)", r"\1=\2", long)
    several = options(root, lambda argument: has_value(argument) and len(argument["names"]) > 1)
    script.replace_each(r"^( *'(?:\([a-zA-Z -]+\)|\*)'\{[a-zA-Z,-]+)(\}'\[(?:[^\\\]]|\\.)*\]:)",
                        lambda found: re.sub(r"(--[a-z-]+)(?=,|$)", r"\1=", found[1]) + found[2], several)
    # A cache has a name or a path.
    cache = r'\{(__urlcache-admin_custom_complete ---completion [a-z ]+ -- (?:--cache|positional@[01]) "[^"]*" "[^"]*")\}'
    script.replace_each(cache, r"{\1; _files}", options(root, is_cache))
    # There is help about commands.
    script.replace("'*:subcommands:'", f"'1:command:({' '.join(names_of(root))})'")
    # Nobody wants to read what went wrong in the line that is typed.
    script.replace('"$("${command_name}" "${@}" "${command_line[@]}")"', '"$("${command_name}" "${@}" "${command_line[@]}" 2>/dev/null)"')
    # What names the cache may stand before the command, and commands have other names.
    spec = re.search(r"^        ('\(-c --cache\)'.*')$", script.text, re.MULTILINE)[1]
    config = re.search(r"^        ('--config=.*')$", script.text, re.MULTILINE)[1]
    spec = re.sub(r"---completion [a-z]+ -- --cache", ASK_CACHE, spec)
    script.replace("""        '(-): :->command'
        '(-)*:: :->arg'
    )
    _arguments -w -s -S : "${arg_specs[@]}" && ret=0
    case "${state}" in
    command)
        local -ar subcommands=(
            'list:List the entries""", f"""        {spec}
        {config}
        '(-): :->command'
        '(-)*:: :->arg'
    )
    _arguments -w -s -S : "${{arg_specs[@]}}" && ret=0
    case "${{state}}" in
    command)
        local -ar subcommands=(
            'list:List the entries""")
    names = "|".join(child["commandName"] for child in root["subcommands"] if child["shouldDisplay"])
    script.replace(f"""        case "${{words[1]}}" in
        {names})
""", "        case \"${words[1]}\" in\n" + "".join(f"        {alias}) words[1]={name} ;;\n" for alias, name in aliases.items())
                   + f"        esac\n        case \"${{words[1]}}\" in\n        {names})\n")


def mend_fish(script, root, aliases):
    # 'commandline -C' says nothing in 'complete -C'; and '-o' must not be in the way of '-t'.
    script.replace("(__urlcache-admin_tokens -tC)", '(string length -- "$(commandline -ct)")', options(root, is_asked))
    # Nobody wants to read what went wrong in the line that is typed.
    script.replace("    command $tokens[1] $argv $tokens\n", "    command $tokens[1] $argv $tokens 2>/dev/null\n")
    # A cache has a name or a path.
    script.replace_each(r"-(r?)fka ('\(__urlcache-admin_custom_completion ---completion [a-z ]+ -- (?:--cache|positional@[01]) )",
                        r"-\1Fka \2", options(root, is_cache))
    # There is help about commands.
    help_line = "complete -c 'urlcache-admin' -n '__urlcache-admin_should_offer_completions_for_%s"
    flag = help_line % "flags_or_options \"urlcache-admin help\" version'"
    positional = help_line % "positional \"urlcache-admin help\" -eq 1'"
    script.replace(flag, f"{positional} -fka '{' '.join(names_of(root))}'\n{flag}")
    # Commands have other names.
    script.replace("    set -l unparsed_tokens (__urlcache-admin_tokens -pc)\n",
                   "    set -l unparsed_tokens (__urlcache-admin_tokens -pc)\n" + "".join(
                       f"    set unparsed_tokens (string replace -r '^{alias}$' {name} -- $unparsed_tokens)\n"
                       for alias, name in aliases.items()))
    # What names the cache may stand before the command.
    script.replace("    case 'urlcache-admin'\n        __urlcache-admin_parse_subcommand 0 ",
                   "    case 'urlcache-admin'\n        __urlcache-admin_parse_subcommand 0 'c/cache=' 'config=' ")
    for name in ["cache", "config"]:
        line = re.search(rf"^complete .*\"urlcache-admin list\".* -l '{name}' .*\n", script.text, re.MULTILINE)[0]
        root_line = line.replace('"urlcache-admin list"', '"urlcache-admin"')
        script.replace(line, root_line + line)


def main(tool, folder):
    root = json.loads(output(tool, "--experimental-dump-help"))["command"]
    for shell, mend in [("bash", mend_bash), ("zsh", mend_zsh), ("fish", mend_fish)]:
        script = Script(output(tool, "--generate-completion-script", shell))
        mend(script, root, aliases_of(root))
        path = os.path.join(folder, PLACES[shell])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(script.text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
