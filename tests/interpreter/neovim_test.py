#!/usr/bin/env python3
"""Tests what a user of Neovim sees: its own client, configured as on the page on editors, talks to `boxcar lsp`.

Usage: neovim_test.py BOXCAR SOURCE; exits with 77 if there is no Neovim 0.7 or later."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BOXCAR, SOURCE = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
PATIENCE = 60  # seconds


def version():
    try:
        told = subprocess.run(["nvim", "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout
    except FileNotFoundError:
        return (0, 0)
    found = re.search(r"v(\d+)\.(\d+)", told)
    return tuple(map(int, found.groups())) if found else (0, 0)


# Runs inside Neovim: opens a script, waits for the server's diagnostics, sends the requests that keys send, and writes
# the answers to a file.
SESSION = """
local patience = %d * 1000
vim.cmd("edit " .. os.getenv("SCRIPT"))
local seen = { filetype = vim.bo.filetype, colours = vim.b.current_syntax }
local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
vim.wait(patience, function() return #clients() > 0 end, 20)
local client = clients()[1].id
local function ask(method, line, character)
  local answers = vim.lsp.buf_request_sync(0, method, {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
    options = { tabSize = 4, insertSpaces = true },
  }, patience)
  return answers and answers[client] and answers[client].result
end
vim.wait(patience, function() return #vim.diagnostic.get(0) > 0 end, 20)
seen.wrong = {}
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(seen.wrong, { each.lnum, each.col, each.severity, each.message })
end
seen.hover = ask("textDocument/hover", 3, 7)
seen.definition = ask("textDocument/definition", 3, 7)
-- The mistake is mended, as by typing.
vim.api.nvim_buf_set_lines(0, 4, 5, false, { "y=halved( x ).sum()" })
vim.wait(patience, function() return #vim.diagnostic.get(0) == 0 end, 20)
seen.left = #vim.diagnostic.get(0)
seen.completion = {}
vim.api.nvim_buf_set_lines(0, 5, 5, false, { "x.argm" })
local list = ask("textDocument/completion", 5, 6)
for _, item in ipairs(list.items or list) do table.insert(seen.completion, item.label) end
vim.api.nvim_buf_set_lines(0, 5, 6, false, {})
vim.lsp.util.apply_text_edits(ask("textDocument/formatting", 0, 0), 0, "utf-16")
seen.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
vim.fn.writefile({ vim.fn.json_encode(seen) }, os.getenv("SEEN"))
vim.lsp.stop_client(client)
vim.cmd("qall!")
"""

SCRIPT = """# Half of it.
fn halved(Tensor x) -> Tensor { return x / 2 }
x = ones(2, 3)
print(halved(x))
y=halved( x ).summ()
"""


def recipe():
    """Returns the shell block and the Lua block of the Neovim section of the page on editors, unchanged."""
    section = (SOURCE / "interpreter/editors/README.md").read_text().split("\n## Neovim\n")[1].split("\n## ")[0]
    blocks = dict(re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL))
    return blocks["sh"], blocks["lua"]


class Neovim(unittest.TestCase):
    def test_a_user_of_neovim_sees_mistakes_schemas_names_and_layout(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "script.ops").write_text(SCRIPT)
            (folder / "session.lua").write_text(SESSION % PATIENCE)
            shell, lua = recipe()
            settings = folder / ".config/nvim"
            settings.mkdir(parents=True)
            (settings / "init.lua").write_text(lua)
            (folder / "bin").mkdir()
            (folder / "bin/boxcar").symlink_to(BOXCAR)
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "NVIM", "VIM"))}
            environment.update(SCRIPT=str(folder / "script.ops"), SEEN=str(folder / "seen.json"), HOME=name,
                               PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
            subprocess.run(["sh", "-ec", shell], cwd=SOURCE, env=environment, check=True, timeout=PATIENCE)
            run = subprocess.run(["nvim", "--headless", "-i", "NONE", "-n", "-c", "luafile session.lua"], cwd=folder,
                                 env=environment, capture_output=True, text=True, timeout=8 * PATIENCE)
            self.assertTrue((folder / "seen.json").exists(), run.stdout + run.stderr)
            seen = json.loads((folder / "seen.json").read_text())
        self.assertEqual(seen["filetype"], "ops")
        self.assertEqual(seen["colours"], "ops")
        self.assertEqual([mistake[:3] for mistake in seen["wrong"]], [[4, 14, 1]])
        self.assertIn("there is no function, method or operator `summ`", seen["wrong"][0][3])
        self.assertIn("halved(Tensor x) -> Tensor", seen["hover"]["contents"]["value"])
        self.assertIn("Half of it.", seen["hover"]["contents"]["value"])
        definition = seen["definition"][0] if isinstance(seen["definition"], list) else seen["definition"]
        self.assertEqual((definition.get("range") or definition["targetSelectionRange"])["start"]["line"], 1)
        self.assertEqual(seen["left"], 0)
        self.assertEqual(seen["completion"], ["argmax", "argmin"])
        self.assertEqual(seen["text"], ["# Half of it.", "fn halved(Tensor x) -> Tensor {", "    return x / 2", "}", "x = ones(2, 3)",
                                        "print(halved(x))", "y = halved(x).sum()"])


if shutil.which("nvim") is None or version() < (0, 7):
    print("skipped: Neovim 0.7 or later is not installed")
    sys.exit(77)
unittest.main(argv=sys.argv[:1])
