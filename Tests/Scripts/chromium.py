"""Drives a headless Chromium through its pipe, with nothing but Python's own library."""

import base64, json, os, select, shutil, signal, subprocess, tempfile, time


# A machine that is busy with other tests is slow, and a browser on it slower; what has not come by then never will.
PATIENCE = 300


class Chromium:
    """A browser with one page, which writes down all that the page asks for and says."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp()
        ours, theirs = os.pipe(), os.pipe()

        def connect():
            # The browser reads from 3 and writes to 4.
            read, write = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [self.path(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", "--no-first-run", f"--user-data-dir={self.folder}", *options, "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(ours[0])
        os.close(theirs[1])
        self.input, self.output = ours[1], theirs[0]
        self.rest, self.count, self.session = b"", 0, None
        self.requests, self.blocked, self.messages, self.dialogs, self.targets = [], [], [], [], []
        self.numbers, self.loads = {}, 0
        target = next(target for target in self.send("Target.getTargets")["targetInfos"] if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    @staticmethod
    def path():
        return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

    def send(self, method, **parameters):
        """Sends a command, and waits for its answer."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.input, json.dumps(message).encode() + b"\0")
        number = self.count
        while True:
            answer = self.receive(PATIENCE)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def receive(self, seconds):
        """The next message; None if none comes in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            if not select.select([self.output], [], [], max(0, end - time.monotonic()))[0]:
                return None
            more = os.read(self.output, 1 << 20)
            assert more, "the browser has ended"
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        self.note(message)
        return message

    def note(self, message):
        method, parameters = message.get("method"), message.get("params")
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
            self.numbers[parameters["requestId"]] = parameters["request"]["url"]
        elif method == "Network.loadingFailed" and parameters.get("blockedReason"):
            self.blocked.append((self.numbers.get(parameters["requestId"]), parameters["blockedReason"]))
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(parameters["args"])
        elif method == "Runtime.exceptionThrown":
            self.messages.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
        elif method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Page.windowOpen":
            self.targets.append(parameters["url"])

    def wait(self, seconds=0.3):
        """Lets what is under way come to its end."""
        while self.receive(seconds) is not None:
            pass

    def until(self, holds, *facts):
        """Waits until something holds that the page does in its own time."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, (facts, self.requests, self.blocked, self.messages)
            self.receive(0.1)

    def open(self, path):
        self.requests, self.blocked, self.messages, self.dialogs = [], [], [], []
        self.load("Page.navigate", url=f"file://{path}")

    def reload(self):
        self.load("Page.reload")

    def load(self, method, **parameters):
        """Has the page loaded, and waits until it and all that it asks for are there."""
        loads = self.loads
        self.send(method, **parameters)
        self.until(lambda: self.loads > loads and self.run("document.readyState") == "complete", method, parameters)
        self.wait()

    def run(self, expression):
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def press(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        self.send("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **shared)

    def click(self, selector):
        """Clicks into the middle of an element, as a mouse does."""
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
                        "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); "
                        "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def resize(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.wait(0.4)

    def prefer(self, scheme):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path, whole=True):
        """Takes a picture of the whole page, or only of what the window shows."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        os.close(self.input)
        os.close(self.output)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
