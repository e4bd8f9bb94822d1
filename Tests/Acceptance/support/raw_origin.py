"""An origin on this machine whose answers are any bytes, for the tests that look at the bytes of requests or lie in their answers."""

import contextlib
import socket
import threading


@contextlib.contextmanager
def listening(answer):
    """Listens as long as the context lasts, and yields the address. `answer` makes the bytes of an answer from those of a request's head;
    without any the connection is only closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener, answer), daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def accept(listener, answer):
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=exchange, args=(connection, answer), daemon=True).start()


def exchange(connection, answer):
    with connection:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        connection.sendall(answer(head))
