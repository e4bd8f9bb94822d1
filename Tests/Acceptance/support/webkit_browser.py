"""A web view of WebKitGTK that stays open, and the origin of all that it loads: nothing leaves the machine.

As a program, it is the web view: `/usr/bin/python3 webkit_browser.py FOLDER PROXY` loads each URL that it reads, and prints a line when it is done and
the cache is quiet.
"""

import hashlib
import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse


def body(path):
    """What the origin sends for a path such as `/9000/a`: as many bytes, of its last part."""
    size, name = path.strip("/").split("/")
    return (hashlib.sha256(name.encode()).hexdigest().encode() * (int(size) // 64 + 1))[:int(size)]


class Origin(http.server.ThreadingHTTPServer):
    """The proxy of a web view, which answers for every host. `asked` are the URLs and conditions of the requests, in order."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, resources):
        super().__init__(("127.0.0.1", 0), Handler)
        self.resources, self.asked = resources, []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        parts = urllib.parse.urlsplit(self.path)
        if parts.path == "/page":
            content = f"""<!doctype html><title>loading</title><script>
                const load = url => new Promise(done => {{ const request = new XMLHttpRequest(); request.open("GET", url); request.onloadend = done; request.send() }});
                (async () => {{ for (const url of {json.dumps(self.server.resources)}) await load(url); document.title = "done" }})()</script>""".encode()
            fields = {"Content-Type": "text/html", "Cache-Control": "no-cache"}
        else:
            content, fields = body(parts.path), {"Content-Type": "text/plain", "Cache-Control": "max-age=86400"}
        self.send_response(200)
        for name, value in (fields | {"Content-Length": str(len(content)), "Access-Control-Allow-Origin": "*"}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class Browser:
    """A web view with its own folder, in which `cache` is its cache."""

    def __init__(self, folder, origin):
        self.cache = os.path.join(folder, "cache", "WebKitCache")
        os.makedirs(os.path.join(folder, "home"))
        home = {name: os.path.join(folder, "home") for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR")}
        settings = {"LANG": "C.UTF-8", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local", "GDK_BACKEND": "x11",
                    "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "PATH": "/usr/bin:/bin"}
        self.process = subprocess.Popen(
            ["xvfb-run", "-a", "-s", "-screen 0 640x480x24", "/usr/bin/python3", os.path.abspath(__file__), folder, f"http://127.0.0.1:{origin.server_address[1]}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=home | settings, start_new_session=True)

    def load(self, url):
        print(url, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n", self.process.poll()

    def close(self):
        self.process.communicate(timeout=60)


def show(folder, proxy):
    """Shows the pages whose URLs are read."""
    import gi
    gi.require_version("Gtk", "3.0")
    gi.require_version("WebKit2", "4.1")
    from gi.repository import GLib, Gtk, WebKit2
    data = WebKit2.WebsiteDataManager(base_cache_directory=folder + "/cache", base_data_directory=folder + "/data")
    data.set_network_proxy_settings(WebKit2.NetworkProxyMode.CUSTOM, WebKit2.NetworkProxySettings.new(proxy, None))
    context = WebKit2.WebContext.new_with_website_data_manager(data)
    context.set_cache_model(WebKit2.CacheModel.WEB_BROWSER)
    loop = GLib.MainLoop()

    def wait(seconds, until=lambda: False):
        end = time.time() + seconds
        while time.time() < end and not until():
            GLib.timeout_add(50, loop.quit)
            loop.run()

    def state():
        return sorted((os.path.join(parent, name), os.lstat(os.path.join(parent, name)).st_mtime_ns)
                      for parent, _, names in os.walk(folder + "/cache") for name in names if os.path.lexists(os.path.join(parent, name)))

    for line in sys.stdin:
        # Each has a process of its own, with nothing in memory; the network process stays.
        window, view = Gtk.Window(), WebKit2.WebView.new_with_context(context)
        window.add(view)
        window.show_all()
        view.load_uri(line.strip())
        wait(60, lambda: view.get_title() == "done")
        last, since, end = None, time.time(), time.time() + 20
        while time.time() < end and time.time() - since < 1.5:
            wait(0.3)
            try:
                now = state()
            except FileNotFoundError:
                now = None
            if now != last or now is None:
                last, since = now, time.time()
        window.destroy()
        print("done", flush=True)


if __name__ == "__main__":
    show(*sys.argv[1:])
