"""Writes a WARC file of versions of files, five of each, or answers requests for them as their origin.

    python3 versions.py warc ENTRIES PORT >FILE
    python3 versions.py serve PORT

Every fifth response has changed on the origin, and every tenth file is gone.
"""

import asyncio
import sys


def write(entries, port):
    for number in range(entries):
        body = b"body %d" % number
        url = b"http://127.0.0.1:%d/files/%d.js?v=%d" % (port, number % max(1, entries // 5), number)
        response = b'HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nETag: "1"\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body)
        sys.stdout.buffer.write(
            b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n" % number
            + b"WARC-Date: 2026-01-01T00:%02d:%02dZ\r\nWARC-Target-URI: %s\r\n" % (number // 60 % 60, number % 60, url)
            + b"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(response), response))


class Origin(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.received = transport, b""

    def data_received(self, data):
        self.received += data
        *heads, self.received = self.received.split(b"\r\n\r\n")
        for head in heads:
            number = int(head.split(b" ", 2)[1].rpartition(b"=")[2])
            if number % 10 == 0:
                self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            else:
                status = b"200 OK" if number % 5 == 0 else b"304 Not Modified"
                self.transport.write(b'HTTP/1.1 %s\r\nETag: "%d"\r\nContent-Length: 0\r\n\r\n' % (status, 2 if number % 5 == 0 else 1))


async def serve(port):
    server = await asyncio.get_running_loop().create_server(Origin, "127.0.0.1", port)
    await server.serve_forever()


if sys.argv[1] == "warc":
    write(int(sys.argv[2]), int(sys.argv[3]))
else:
    asyncio.run(serve(int(sys.argv[2])))
