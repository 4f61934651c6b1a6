"""Checks that the editors' files contain the language's words. Usage: editors_test.py ROOT"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
EDITORS = ROOT / "interpreter" / "editors"
GRAMMAR = json.loads((EDITORS / "vscode/syntaxes/ops.tmLanguage.json").read_text())
VIM = (EDITORS / "vim/syntax/ops.vim").read_text()


def keywords():
    """Returns the keywords, as spelled in the lexer."""
    text = (ROOT / "interpreter/syntax/token.cpp").read_text()
    table = re.search(r"kSpellings = \{(.*?)\};", text, re.S)[1]
    words = re.findall(r'"([A-Za-z]+)"', table)
    assert "fallback" in words and len(words) > 25, words
    return set(words) | {"op", "exit"}


def builtins():
    """Returns the built-ins that are called by a plain name."""
    words = {"isinstance"}
    for path in (ROOT / "interpreter" / "runtime").glob("builtins_*.cpp"):
        text = path.read_text()
        for match in re.finditer(r'add(?:Builtin|Variadic)\(\s*table, "([a-z_]+)\(', text):
            words.add(match[1])
    hidden = set()
    for path in (ROOT / "interpreter" / "runtime").glob("builtins_*.cpp"):
        hidden |= set(re.findall(r'hide\w*\(table, "([a-z_]+)', path.read_text()))
    return words - hidden


def patterns(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("match", "begin", "end"):
                yield value
            else:
                yield from patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns(value)


def scopes_of(line):
    """Applies the top-level rules to a line without fields in strings; returns (text, scope) of each match."""
    def rules(name):
        for rule in (GRAMMAR["patterns"] if name == "$" else GRAMMAR["repository"][name].get("patterns", [GRAMMAR["repository"][name]])):
            if "include" in rule:
                yield from rules(rule["include"][1:])
            else:
                yield rule

    found, at = [], 0
    while at < len(line):
        best = None
        for rule in rules("$"):
            match = re.compile(rule.get("match", rule.get("begin"))).search(line, at)
            if match and match.end() > match.start() and (best is None or match.start() < best[1].start()):
                best = (rule, match)
        if best is None:
            break
        rule, match = best
        if "begin" in rule:
            end = re.compile(rule["end"]).search(line, match.end())
            found.append((line[match.start():end.end()], rule["name"]))
            at = max(end.end(), at + 1)
            continue
        if "captures" in rule:
            found += [(match[int(group)], capture["name"]) for group, capture in rule["captures"].items()]
        else:
            found.append((match[0], rule["name"]))
        at = match.end()
    return found


class EditorsTest(unittest.TestCase):
    def test_the_files_are_json(self):
        package = json.loads((EDITORS / "vscode/package.json").read_text())
        json.loads((EDITORS / "vscode/language-configuration.json").read_text())
        for grammar in package["contributes"]["grammars"]:
            self.assertTrue((EDITORS / "vscode" / grammar["path"]).is_file())
        self.assertEqual(GRAMMAR["scopeName"], package["contributes"]["grammars"][0]["scopeName"])

    def test_every_expression_compiles(self):
        all_patterns = list(patterns(GRAMMAR))
        self.assertGreater(len(all_patterns), 20)
        for pattern in all_patterns:
            re.compile(pattern)

    def test_every_include_exists(self):
        for name in re.findall(r'"include": "#(\w+)"', json.dumps(GRAMMAR)):
            self.assertIn(name, GRAMMAR["repository"])

    def test_the_keywords_are_the_lexers(self):
        rules = " ".join(patterns(GRAMMAR["repository"]["declaration"])) + " ".join(patterns(GRAMMAR["repository"]["word"]))
        for word in keywords():
            self.assertRegex(rules, rf"\b{word}\b")
            self.assertRegex(VIM, rf"\b(?:zs)?{word}\b")
        # And contain no other words.
        words = re.search(r"^syntax keyword opsDeclaration (.*)$", VIM, re.M)[1].split()
        for group in ("opsStatement", "opsOperator", "opsConstant"):
            words += re.search(rf"^syntax keyword {group} (.*)$", VIM, re.M)[1].split()
        self.assertLessEqual(set(words), keywords())

    def test_the_builtins_are_known(self):
        rule = next(r for r in GRAMMAR["repository"]["word"]["patterns"] if r["name"] == "support.function.builtin.ops")
        vim = re.search(r"^syntax match opsBuiltin .*$", VIM, re.M)[0]
        named = set(re.findall(r"[a-z_]+", rule["match"].split("(?:")[1].split(")")[0]))
        self.assertEqual(named, set(re.findall(r"[a-z_]{2,}", vim.split("%(", 2)[2].split("\\)")[0])))
        documented = (ROOT / "interpreter/README.md").read_text()
        for word in builtins() & set(re.findall(r"[a-z_]+", documented)):
            if word in ("format", "named", "updated", "dtype_name"):
                continue  # internal to the compiler
            self.assertIn(word, named)
        self.assertLessEqual(named, builtins())

    def test_lines_have_the_colours_that_they_should(self):
        self.assertEqual(scopes_of("fn f(Tensor x) -> int { return 1 }  # one")[:4], [
            ("fn", "keyword.declaration.ops"), ("f", "entity.name.function.ops"), ("Tensor", "support.type.ops"), ("->", "keyword.operator.ops")])
        self.assertIn(("# one", "comment.line.number-sign.ops"), scopes_of("fn f(Tensor x) -> int { return 1 }  # one"))
        self.assertEqual(scopes_of('impl aten::relu @ CPU {'), [
            ("impl", "keyword.declaration.ops"), ("aten::relu", "entity.name.function.ops"), ("@", "keyword.operator.ops"), ("CPU", "support.constant.dispatch-key.ops")])
        self.assertEqual(scopes_of('y = aten::add("a # b", 1.5e-3)'), [
            ("=", "keyword.operator.ops"), ("aten", "entity.name.namespace.ops"), ("::", "punctuation.separator.namespace.ops"),
            ("add", "entity.name.function.call.ops"), ('"a # b"', "string.quoted.double.ops"), ("1.5e-3", "constant.numeric.ops")])

    def test_vim_reads_the_syntax(self):
        vim = shutil.which("vim")
        if vim is None:
            self.skipTest("vim is not installed")
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "a.ops"
            script.write_text('fn f(int x) -> int { return len("a") }  # one\n')
            out = Path(folder) / "out"
            columns = [1, 4, 22, 29, 33, 42]
            names = ", ".join(f'synIDattr(synID(1, {c}, 1), "name")' for c in columns)
            subprocess.run([vim, "-u", "NONE", "-es", "-c", "set nocompatible", "-c", f"set rtp^={EDITORS / 'vim'}", "-c", "filetype plugin on", "-c", "syntax on",
                            "-c", f"e {script}", "-c", f"call writefile([{names}, &filetype, &commentstring], '{out}')", "-c", "qa!"], timeout=60, check=False)
            self.assertEqual(out.read_text().split("\n")[:-1], ["opsDeclaration", "opsFunction", "opsStatement", "opsBuiltin", "opsString", "opsComment", "ops", "# %s"])


unittest.main()
