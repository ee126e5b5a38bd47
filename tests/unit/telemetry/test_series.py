"""The faster ways to count show what the Prometheus library would show."""

from concurrent.futures import ThreadPoolExecutor

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from infra.telemetry.gauges import adder, observer

BOUNDS = (0.1, 0.5, 1.0)
# On bounds, between them, below the first and above the last one.
AMOUNTS = (0.0, 0.1, 0.3, 0.5, 0.50001, 1.0, 7.0, -1.0, float("inf"))


def exposed(count):
    registry = CollectorRegistry()
    counter = Counter("asked", "Questions", ["place"], registry=registry).labels("here")
    histogram = Histogram("took", "Waits", ["place"], buckets=BOUNDS, registry=registry)
    count(counter, histogram.labels("here"))
    lines = generate_latest(registry).decode().splitlines()
    return [line for line in lines if "_created" not in line]


def count_slowly(counter, histogram):
    counter.inc()
    counter.inc(3)
    for amount in AMOUNTS:
        histogram.observe(amount)


def count_fast(counter, histogram):
    add, observe = adder(counter), observer(histogram)
    add(1)
    add(3)
    for amount in AMOUNTS:
        observe(amount)


def test_both_ways_show_the_same():
    assert exposed(count_fast) == exposed(count_slowly)


def test_both_ways_add_to_one_series():
    def count(counter, histogram):
        count_fast(counter, histogram)
        count_slowly(counter, histogram)

    assert 'asked_total{place="here"} 8.0' in exposed(count)
    assert f'took_count{{place="here"}} {2.0 * len(AMOUNTS)}' in exposed(count)


def test_threads_lose_no_counts():
    def count(counter, histogram):
        add, observe = adder(counter), observer(histogram)

        def work(_):
            for _ in range(5_000):
                add(1)
                observe(0.3)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))

    assert 'asked_total{place="here"} 20000.0' in exposed(count)
    assert 'took_bucket{le="0.5",place="here"} 20000.0' in exposed(count)
