"""The queue of requests and its threads."""

import threading
from types import SimpleNamespace

from tests.waiting import until
from web.serving.pending_request import PendingRequest
from web.serving.request_queues import RequestQueue

THREADS = 4


def make_request():
    return PendingRequest(None, SimpleNamespace(path="/"))


def make_queue():
    """A queue whose threads all wait for requests, and the names of those that served."""
    queue, served = RequestQueue(THREADS, most=8, wait_s=10.0), []
    return queue, served


def test_one_thread_serves_requests_that_come_one_after_another():
    """The sessions of the other threads would plan the same statements again."""
    queue, served = make_queue()
    queue.start(lambda _: served.append(threading.current_thread()))
    for count in range(1, 21):
        until(lambda: len(queue._idle) == THREADS)
        queue.add(make_request())
        until(lambda count=count: len(served) == count)
    assert len(set(served)) == 1


def test_as_many_requests_are_served_at_a_time_as_there_are_threads():
    queue, served = make_queue()
    end = threading.Event()
    queue.start(lambda request: (served.append(request), end.wait()))
    requests = [make_request() for _ in range(THREADS + 2)]
    for request in requests:
        queue.add(request)
    until(lambda: len(served) == THREADS)
    assert set(served) == set(requests[:THREADS])  # the others wait
    end.set()
    until(lambda: len(served) == THREADS + 2)
    assert set(served) == set(requests)


def test_a_request_is_refused_when_too_many_wait():
    queue, served = make_queue()
    begun, end = threading.Semaphore(0), threading.Event()
    queue.start(lambda request: (served.append(request), begun.release(), end.wait()))
    answers = []
    queue._full = SimpleNamespace(answer=answers.append)
    for _ in range(THREADS):
        queue.add(make_request())
        begun.acquire()
    waiting = [make_request() for _ in range(8)]
    for request in waiting:
        queue.add(request)
    assert answers == []
    late = make_request()
    queue.add(late)
    assert answers == [late]
    end.set()
    until(lambda: len(served) == THREADS + 8)
    assert set(served[THREADS:]) == set(waiting)
