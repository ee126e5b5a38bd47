/* Sends requests: who calls where, how long a call goes on, and after which failures it is tried again. */
import { DeadlineExceeded, Unreachable, errorOf, mayPass, read } from "./errors.js";

const DEADLINE_MS = 10_000, RETRIES = 2, LONGEST_DEADLINE_MS = 600_000;
const FIRST_PAUSE_MS = 100, LONGEST_PAUSE_MS = 2_000;

export const sleep = (ms, signal) => new Promise((done, fail) => {
  const ended = () => { clearTimeout(timer); fail(signal.reason); };
  const timer = setTimeout(() => { signal?.removeEventListener("abort", ended); done(); }, ms);
  if (signal?.aborted) ended(); else signal?.addEventListener("abort", ended, { once: true });
});

/* A URL without its end: `https://feed.example.org/` is `https://feed.example.org`. */
const addressOf = (url) => {
  if (!/^https?:\/\/[^/]/.test(url)) throw new TypeError(`"${url}" is no address of Tideline, such as https://feed.example.org`);
  return url.replace(/\/+$/, "");
};

/* Who calls where: one connection for all calls of a token, or of a service as one account. */
export class Connection {
  constructor(url, token, { deadlineMs = DEADLINE_MS, retries = RETRIES, fetch = globalThis.fetch } = {}, accountId = null) {
    if (!(deadlineMs >= 1 && deadlineMs <= LONGEST_DEADLINE_MS)) throw new RangeError(`deadlineMs must be from 1 to ${LONGEST_DEADLINE_MS}`);
    if (!(retries >= 0)) throw new RangeError("retries must be 0 or more");
    this.url = addressOf(url);
    this.options = { deadlineMs, retries, fetch };
    this.accountId = accountId;
    /* Logs show objects: the token is no field of this one. */
    this.headers = () => ({
      Accept: "application/json",
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(accountId && { "Tideline-Account": accountId }),
    });
    this.as = (other) => new Connection(url, token, this.options, String(other));
  }

  /* A call with all its tries: the answer's value and headers. */
  async send(operation, request, { deadlineMs = this.options.deadlineMs, signal } = {}) {
    const endsAt = performance.now() + deadlineMs, requestId = crypto.randomUUID().replaceAll("-", "");
    let left = operation.repeats || operation.hasKey ? this.options.retries : 0, longest = FIRST_PAUSE_MS;
    for (;;) {
      try {
        return await this.#try(request, endsAt, requestId, signal);
      } catch (error) {
        const pause = Math.random() * longest + (error.retryAfterMs ?? 0);
        if (!mayPass(error) || left === 0 || performance.now() + pause >= endsAt) throw error;
        left -= 1;
        longest = Math.min(2 * longest, LONGEST_PAUSE_MS);
        await sleep(pause, signal);
      }
    }
  }

  async #try(request, endsAt, requestId, signal) {
    const remaining = Math.floor(endsAt - performance.now());
    if (remaining < 1) throw new DeadlineExceeded("the deadline of this call is over", requestId);
    const timeout = AbortSignal.timeout(remaining);
    let answer, text;
    try {
      answer = await this.options.fetch(`${this.url}${request.path}${request.query.size ? `?${request.query}` : ""}`, {
        method: request.verb,
        body: request.body,
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        headers: { ...this.headers(), ...request.headers, "Tideline-Deadline-Ms": String(remaining), "X-Request-Id": requestId },
      });
      text = await answer.text();
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (timeout.aborted) throw new DeadlineExceeded("the deadline of this call is over", requestId, { cause });
      throw new Unreachable(`Tideline did not answer: ${cause.cause?.message ?? cause.message}`, requestId, { cause });
    }
    if (!answer.ok) throw errorOf(answer, text, requestId);
    return { value: text ? read(text, requestId) : null, headers: answer.headers };
  }
}
