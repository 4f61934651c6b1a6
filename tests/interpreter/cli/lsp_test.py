"""Tests `boxcar lsp` with the messages that editors send. Usage: lsp_test.py BOXCAR"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import quote

BOXCAR = sys.argv.pop(1)

# The capabilities that Neovim's client declares, without those that this server does not use.
NEOVIM = {
    "processId": os.getpid(),
    "clientInfo": {"name": "Neovim", "version": "0.10.2"},
    "rootPath": None,
    "rootUri": None,
    "workspaceFolders": None,
    "trace": "off",
    "workDoneToken": "1",
    "initializationOptions": {},
    "capabilities": {
        "general": {"positionEncodings": ["utf-16"]},
        "textDocument": {
            "synchronization": {"dynamicRegistration": False, "willSave": True, "willSaveWaitUntil": True, "didSave": True},
            "completion": {
                "dynamicRegistration": False,
                "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown", "plaintext"]},
                "contextSupport": True,
            },
            "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
            "definition": {"dynamicRegistration": True, "linkSupport": True},
            "documentSymbol": {"dynamicRegistration": False, "hierarchicalDocumentSymbolSupport": True},
            "signatureHelp": {"dynamicRegistration": False, "signatureInformation": {"activeParameterSupport": True}},
            "publishDiagnostics": {"relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}, "dataSupport": True},
        },
        "window": {"workDoneProgress": True, "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}}},
        "workspace": {"applyEdit": True, "configuration": True, "workspaceFolders": True},
    },
}
# The capabilities of VS Code, which also sends notifications that a server may not know.
VSCODE = {
    "processId": os.getpid(),
    "clientInfo": {"name": "Visual Studio Code", "version": "1.95.3"},
    "locale": "en",
    "rootPath": "/tmp",
    "rootUri": "file:///tmp",
    "capabilities": {
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}, "didChangeConfiguration": {"dynamicRegistration": True}},
        "textDocument": {
            "publishDiagnostics": {"relatedInformation": True, "versionSupport": False, "codeDescriptionSupport": True},
            "synchronization": {"dynamicRegistration": True, "willSave": True, "willSaveWaitUntil": True, "didSave": True},
            "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {"dynamicRegistration": True, "hierarchicalDocumentSymbolSupport": True},
        },
        "general": {"staleRequestSupport": {"cancel": True}, "positionEncodings": ["utf-16"]},
    },
    "trace": "off",
    "workspaceFolders": [{"uri": "file:///tmp", "name": "tmp"}],
}


class Server:
    def __init__(self, initialize=NEOVIM, options=()):
        self.process = subprocess.Popen([BOXCAR, *options, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.next_id = 1
        self.notifications = []
        if initialize is not None:
            self.capabilities = self.ask("initialize", initialize)["result"]["capabilities"]
            self.tell("initialized", {})

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        length = None
        while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
            name, value = line.split(b":")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length)) if length is not None else None

    def answer_to(self, number):
        while (message := self.receive()) is not None:
            if message.get("id") == number and "method" not in message:
                return message
            self.notifications.append(message)
        raise AssertionError("the server went away: " + self.process.stderr.read().decode())

    def ask(self, method, params=None):
        number = self.next_id
        self.next_id += 1
        self.send({"id": number, "method": method, **({} if params is None else {"params": params})})
        return self.answer_to(number)

    def ask_at(self, method, uri, line, character):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})["result"]

    def open(self, uri, text, version=0):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "ops", "version": version, "text": text}})

    def change(self, uri, changes, version=1):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def diagnostics(self, uri):
        """Returns the next diagnostics that are published for [uri]."""
        while True:
            message = self.notifications.pop(0) if self.notifications else self.receive()
            assert message is not None, self.process.stderr.read().decode()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return message["params"]

    def leave(self):
        assert self.ask("shutdown")["result"] is None
        self.tell("exit", None)
        return self.end()

    def end(self):
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors.decode()


def span(begin_line, begin, end_line, end):
    return {"start": {"line": begin_line, "character": begin}, "end": {"line": end_line, "character": end}}


class LspTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name).resolve()
        self.addCleanup(self.folder.cleanup)

    def uri(self, name):
        return "file://" + quote(str(self.path / name))

    def test_a_session_as_neovim_has_it(self):
        server = Server(NEOVIM)
        self.assertEqual(server.capabilities["positionEncoding"], "utf-16")
        self.assertEqual(server.capabilities["textDocumentSync"], {"openClose": True, "change": 2, "save": True})
        uri = self.uri("a b.ops")
        server.open(uri, "x = ones(2)\ny = reluu(x)\n")
        published = server.diagnostics(uri)
        self.assertEqual(published["version"], 0)
        self.assertEqual(published["diagnostics"], [{
            "range": span(1, 4, 1, 9),
            "severity": 1,
            "source": "boxcar",
            "message": "there is no function or operator called `reluu`. Did you mean 'relu', 'relu6' or 'relu_'?",
        }])
        server.change(uri, [{"range": span(1, 8, 1, 9), "rangeLength": 1, "text": ""}], 3)
        self.assertEqual(server.diagnostics(uri), {"uri": uri, "version": 3, "diagnostics": []})
        self.assertEqual(server.ask_at("hover", uri, 1, 5)["range"], span(1, 4, 1, 8))
        hover = server.ask_at("hover", uri, 1, 5)["contents"]
        self.assertEqual(hover["kind"], "markdown")
        self.assertRegex(hover["value"], r"^```ops\naten::relu\(Tensor self\) -> Tensor\n```\n\n\w[^\n]+\n\naten::relu has 1 other overload\.$")
        self.assertEqual(server.ask_at("definition", uri, 1, 9), [{"uri": uri, "range": span(0, 0, 0, 1)}])
        self.assertEqual(server.leave(), (0, ""))

    def test_a_session_as_vs_code_has_it(self):
        server = Server(VSCODE)
        server.tell("$/setTrace", {"value": "off"})
        server.tell("workspace/didChangeConfiguration", {"settings": {}})
        uri = self.uri("a.ops")
        server.open(uri, "fn f(int width) -> int { return width }\nx = f(1)\nx.", 1)
        self.assertEqual(server.diagnostics(uri)["diagnostics"][0]["range"]["start"]["line"], 2)
        self.assertEqual(server.ask("textDocument/codeAction", {"textDocument": {"uri": uri}})["error"],
                         {"code": -32601, "message": "there is no method `textDocument/codeAction` here"})
        symbols = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})["result"]
        self.assertEqual([s["name"] for s in symbols], ["f", "x"])
        self.assertEqual(symbols[0], {"name": "f", "kind": 12, "detail": "(int width) -> int", "range": span(0, 0, 0, 39), "selectionRange": span(0, 3, 0, 4)})
        server.change(uri, [{"range": span(2, 0, 2, 2), "rangeLength": 2, "text": "y = f("}], 2)
        help = server.ask_at("signatureHelp", uri, 2, 6)
        self.assertEqual(help, {"signatures": [{"label": "f(int width) -> int", "parameters": [{"label": "int width"}]}], "activeSignature": 0, "activeParameter": 0})
        items = server.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": 2, "character": 6}, "context": {"triggerKind": 1}})["result"]["items"]
        self.assertEqual(items[0], {"label": "width=", "kind": 10, "detail": "int width", "sortText": "00000", "textEdit": {"range": span(2, 6, 2, 6), "newText": "width="}})
        server.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
        server.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
        while server.diagnostics(uri)["diagnostics"]:
            pass
        self.assertEqual(server.leave(), (0, ""))

    def test_characters_are_counted_in_utf_16(self):
        server = Server()
        uri = self.uri("a.ops")
        # é has one unit and two bytes, 😀 two units and four bytes.
        server.open(uri, 'x = "é😀"; yy = x.uppe\r\n')
        self.assertEqual(server.diagnostics(uri)["diagnostics"][0]["range"], span(0, 18, 0, 22))
        completion = server.ask_at("completion", uri, 0, 22)
        self.assertEqual([i["textEdit"] for i in completion["items"]], [{"range": span(0, 18, 0, 22), "newText": "upper"}])
        server.change(uri, [{"range": span(0, 6, 0, 8), "text": "ü😀"}, {"range": span(0, 23, 0, 23), "text": "r()"}])
        self.assertEqual(server.diagnostics(uri)["diagnostics"], [])
        self.assertEqual(server.ask_at("hover", uri, 0, 12), {"contents": {"kind": "markdown", "value": "```ops\nyy: str\n```"}, "range": span(0, 12, 0, 14)})
        # A position past the end of a line means the line's end; past the last line, the end of the text.
        self.assertIsNone(server.ask_at("hover", uri, 99, 99))
        server.change(uri, [{"text": "z = 1"}])
        self.assertEqual(server.diagnostics(uri)["diagnostics"], [])
        self.assertEqual(server.leave(), (0, ""))

    def test_half_a_pair_of_surrogates_is_one_replacement_character(self):
        server = Server()
        uri = self.uri("a.ops")
        server.open(uri, "x = 1\n")
        server.change(uri, [{"text": 'x="\ud83d😀\ude00" # \\ud83d\n'}])
        server.change(uri, [{"range": span(0, 6, 0, 7), "text": "e"}])
        options = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
        self.assertEqual(server.ask("textDocument/formatting", options)["result"], [{"range": span(0, 0, 1, 0), "newText": 'x = "\ufffd😀e"  # \\ud83d\n'}])
        self.assertEqual(server.leave(), (0, ""))

    def test_formatting_changes_only_the_lines_that_need_it(self):
        server = Server()
        self.assertIs(server.capabilities["documentFormattingProvider"], True)
        uri = self.uri("a.ops")
        options = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
        server.open(uri, "é = 1\n")
        self.assertEqual(server.ask("textDocument/formatting", options)["result"], [])  # the script has an error
        text = "a = 1\nb=2\nc  =  3\nd = 4\n"
        server.change(uri, [{"text": text}])
        self.assertEqual(server.ask("textDocument/formatting", options)["result"], [{"range": span(1, 0, 3, 0), "newText": "b = 2\nc = 3\n"}])
        server.change(uri, [{"range": span(1, 0, 3, 0), "text": "b = 2\nc = 3\n"}])
        self.assertEqual(server.ask("textDocument/formatting", options)["result"], [])
        self.assertEqual(server.leave(), (0, ""))

    def test_open_texts_count_instead_of_the_disk(self):
        (self.path / "lib.ops").write_text("x = (\n")
        server = Server()
        main, lib = self.uri("main.ops"), self.uri("lib.ops")
        server.open(main, 'import "lib.ops"\ny = good(1)\n')
        [problem] = server.diagnostics(main)["diagnostics"]
        self.assertEqual(problem["message"], f"{self.path}/lib.ops, which is imported here, has errors")
        self.assertEqual(problem["relatedInformation"][0]["location"]["uri"], lib)
        server.open(lib, "fn good(int x) -> int { return x }\n")
        self.assertEqual(server.diagnostics(main)["diagnostics"], [])
        self.assertEqual(server.ask_at("definition", main, 1, 5), [{"uri": lib, "range": span(0, 3, 0, 7)}])
        server.tell("textDocument/didClose", {"textDocument": {"uri": lib}})
        self.assertEqual(len(server.diagnostics(main)["diagnostics"]), 1)
        self.assertEqual(server.leave(), (0, ""))

    def test_scripts_and_plugins_are_not_run(self):
        (self.path / "lib.ops").write_text('io::save({"x": ones(1)}, "made.safetensors")\n')
        (self.path / "libbad.so").write_text("no library")
        server = Server()
        uri = self.uri("main.ops")
        server.open(uri, 'import "lib.ops"\nimport "libbad.so"\nassert False, "run"\n')
        [problem] = server.diagnostics(uri)["diagnostics"]
        self.assertEqual((problem["severity"], problem["range"]), (3, span(1, 7, 1, 18)))
        self.assertEqual(server.leave(), (0, ""))
        self.assertEqual(sorted(p.name for p in self.path.iterdir()), ["lib.ops", "libbad.so"])

    def test_wrong_messages_are_answered(self):
        server = Server(initialize=None)
        self.assertEqual(server.ask("textDocument/hover", {})["error"], {"code": -32002, "message": "`textDocument/hover` came before `initialize`"})
        server.ask("initialize", NEOVIM)
        self.assertEqual(server.ask("initialize", NEOVIM)["error"]["message"], "`initialize` came twice")
        for text, code, sentence in [
            (b"{", -32700, "the message is not JSON"),
            (b"[]", -32600, "a message is a JSON object"),
            (b"{}", -32600, "the message has no `method`"),
            (b'{"method": 3}', -32600, "`method` is not a string"),
            (b"[" * 100000 + b"]" * 100000, -32600, "the message nests more than 100 levels deep"),
            (b"\xff", -32700, "the message is not JSON"),
        ]:
            server.send_bytes(b"content-length:%d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s" % (len(text), text))
            error = server.receive()["error"]
            self.assertEqual(error["code"], code)
            self.assertTrue(error["message"].startswith(sentence), error["message"])
        self.assertEqual(server.ask("textDocument/hover", {"textDocument": {"uri": "file:///none.ops"}, "position": {"line": 0, "character": 0}})["error"],
                         {"code": -32602, "message": "textDocument/hover: file:///none.ops is not open"})
        self.assertEqual(server.ask("textDocument/hover")["error"]["code"], -32602)
        uri = self.uri("a.ops")
        server.open(uri, "")
        self.assertEqual(server.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": -1, "character": "x"}})["error"]["code"], -32602)
        server.tell("textDocument/didChange", {"textDocument": {"uri": uri}})
        server.tell("no/such/notification", {})
        server.tell("$/cancelRequest", {"id": 77})
        self.assertIsNone(server.ask("shutdown")["result"])
        self.assertEqual(server.ask("shutdown")["error"], {"code": -32600, "message": "`shutdown` came after `shutdown`"})
        server.tell("exit", None)
        code, errors = server.end()
        self.assertEqual(code, 0)
        self.assertRegex(errors, r"\Aboxcar: lsp: textDocument/didChange: the parameters are not what the protocol says: .*\n\Z")

    def test_wrong_streams_end_the_server_with_a_sentence(self):
        for data, sentence in [
            (b"hello\r\n\r\n", "boxcar: lsp: 'hello' was found instead of a header line, such as `Content-Length: 42`; the input is not from an editor\n"),
            (b"Content-Length: many\r\n\r\n", "boxcar: lsp: `Content-Length: many` is not a number of bytes\n"),
            (b"Content-Length: 99999999999\r\n\r\n", "boxcar: lsp: a message of 99999999999 bytes is too long; at most 268435456 are read\n"),
            (b"Content-Type: x\r\n\r\n", "boxcar: lsp: a message has no `Content-Length`\n"),
            (b"Content-Length: 10\r\n\r\n{}", "boxcar: lsp: the input ends 8 bytes before the message does\n"),
            (b"Content-Length: 10", "boxcar: lsp: the input ends in the middle of a header\n"),
            (b"x" * 20000, "boxcar: lsp: no message begins in the first 20000 bytes; the input is not from an editor\n"),
            (b"", "boxcar: lsp: the editor disconnected without `exit`\n"),
        ]:
            ended = subprocess.run([BOXCAR, "lsp", "--stdio"], input=data, capture_output=True, timeout=60)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr.decode()), (1, b"", sentence))

    def test_exit_without_shutdown_is_a_failure(self):
        server = Server()
        server.tell("exit", None)
        self.assertEqual(server.end(), (1, ""))

    def test_requests_that_wait_can_be_cancelled(self):
        server = Server()
        uri = self.uri("a.ops")
        server.open(uri, "x = ones(2)\n" * 2000)
        number = server.next_id
        data = b""
        for message in [
            {"id": number, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}}},
            {"id": number + 1, "method": "textDocument/hover", "params": {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}}},
            {"method": "$/cancelRequest", "params": {"id": number + 1}},
        ]:
            body = json.dumps({"jsonrpc": "2.0", **message}).encode()
            data += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        server.send_bytes(data)
        server.next_id += 2
        self.assertEqual(server.answer_to(number + 1)["error"], {"code": -32800, "message": "the request was cancelled"})
        self.assertIn("result", server.answer_to(number))
        self.assertEqual(server.leave(), (0, ""))

    def test_a_long_script_is_answered_for(self):
        server = Server()
        uri = self.uri("long.ops")
        lines = ["x = ones(2, 2)"] + [f"fn f{i}(Tensor x) -> Tensor {{ y = relu(x) + {i}\n return y.sum(0) }}" if i % 5 == 0 else f"x = relu(x) * {i}" for i in range(4200)]
        server.open(uri, "\n".join(lines) + "\n")
        self.assertEqual(server.diagnostics(uri)["diagnostics"], [])
        last = "\n".join(lines).count("\n")
        # Many keys at once: intermediate texts are not checked.
        for version in range(2, 40):
            server.change(uri, [{"range": span(last + 1, version - 2, last + 1, version - 2), "text": "x"}], version)
        before = time.monotonic()
        self.assertIsNotNone(server.ask_at("completion", uri, last + 1, 1))
        print(f"completion in {last} lines behind 38 changes: {time.monotonic() - before:.3f} s", file=sys.stderr)
        while server.diagnostics(uri)["version"] != 39:
            pass
        self.assertEqual(server.leave(), (0, ""))


unittest.main()
