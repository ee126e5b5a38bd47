/* How the client behaves towards answers that a test chooses. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { DeadlineExceeded, InvalidRequest, NotFound, Refused, Tideline, TokenRefused, Unavailable, UnexpectedAnswer, Unreachable } from "tideline-client";

const json = (value, status = 200, headers = {}) => new Response(JSON.stringify(value), { status, headers });

/* A client whose requests get these answers, one after the other; the last one again and again. */
const answering = (...answers) => {
  const requests = [];
  const fetch = async (url, init) => {
    requests.push({ url: new URL(url), ...init });
    const answer = answers[Math.min(requests.length, answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return answer(init);
  };
  return { requests, tideline: new Tideline("http://feed.test/", "secret", { fetch, deadlineMs: 5000 }) };
};

test("an account, a deadline and an id are sent with each call", async () => {
  const { requests, tideline } = answering(() => json({ id: "7" }));
  assert.equal((await tideline.actingFor(5).statuses.get("7")).id, "7");
  const [{ url, method, headers, redirect }] = requests;
  assert.deepEqual([url.href, method, redirect], ["http://feed.test/api/v1/statuses/7", "GET", "manual"]);
  assert.equal(headers.Authorization, "Bearer secret");
  assert.equal(headers["Tideline-Account"], "5");
  assert.match(headers["X-Request-Id"], /^[0-9a-f]{32}$/);
  assert.ok(Number(headers["Tideline-Deadline-Ms"]) > 4000);
});

test("lists, booleans and names are sent as the API has them", async () => {
  const { requests, tideline } = answering(() => json([]));
  await tideline.statuses.byIds({ ids: ["1", "2"] });
  await tideline.accounts.directory({ local: true, limit: undefined });
  assert.deepEqual(requests.map(({ url }) => decodeURIComponent(url.search)), ["?id[]=1&id[]=2", "?local=true"]);
});

test("a post has a key, and is sent again with it", async () => {
  const busy = () => json({ error: "busy" }, 503, { "Retry-After": "0" });
  const { requests, tideline } = answering(busy, new TypeError("fetch failed"), () => json({ id: "1" }));
  await tideline.statuses.create({ status: "Hello", poll: { options: ["a", "b"], expires_in: 600 } });
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ headers }) => headers["Idempotency-Key"])).size, 1);
  assert.deepEqual(JSON.parse(requests[0].body), { status: "Hello", poll: { options: ["a", "b"], expires_in: 600 } });
  await tideline.statuses.create({ status: "Hello", idempotency_key: "order-7" });
  assert.equal(requests.at(-1).headers["Idempotency-Key"], "order-7");
});

test("what cannot be repeated is sent once, and what stays away is an error", async () => {
  const { requests, tideline } = answering(() => json({ error: "busy" }, 503));
  await assert.rejects(tideline.polls.vote("1", { choices: [0] }), Unavailable);
  assert.equal(requests.length, 1);
  const away = answering(new TypeError("fetch failed"));
  await assert.rejects(away.tideline.statuses.get("1"), Unreachable);
  assert.equal(away.requests.length, 3);
});

test("a call ends at its deadline, and when its signal says so", async () => {
  const hang = ({ signal }) => new Promise((_, fail) => { signal.addEventListener("abort", () => fail(signal.reason)); });
  const { tideline } = answering(hang);
  const began = performance.now();
  await assert.rejects(tideline.statuses.get("1", { deadlineMs: 100 }), DeadlineExceeded);
  assert.ok(performance.now() - began < 3000);
  const stopping = new AbortController();
  setTimeout(() => stopping.abort(new Error("enough")), 20);
  await assert.rejects(tideline.statuses.get("1", { signal: stopping.signal }), /enough/);
});

test("errors have their classes", async () => {
  for (const [status, Kind] of [[401, TokenRefused], [404, NotFound], [422, InvalidRequest], [418, Refused], [504, DeadlineExceeded], [302, UnexpectedAnswer]]) {
    const { tideline } = answering(() => json({ error: "so it is", details: { status: ["blank"] } }, status));
    const error = await tideline.statuses.get("1").catch((caught) => caught);
    assert.equal(error.constructor, Kind, String(status));
    assert.match(error.message, /so it is/);
    if (error instanceof Refused) assert.deepEqual([error.status, error.details], [status, { status: ["blank"] }]);
  }
  const { tideline } = answering(() => new Response("<h1>a proxy"));
  await assert.rejects(tideline.statuses.get("1"), UnexpectedAnswer);
});

test("what the API does not know is an error, and no id leads elsewhere", async () => {
  const { requests, tideline } = answering(() => json({}));
  await assert.rejects(tideline.statuses.create({ stauts: "x" }), /there is no parameter stauts/);
  await assert.rejects(tideline.statuses.get(), /status_id is missing/);
  await assert.rejects(tideline.statuses.get(".."), NotFound);
  assert.equal(requests.length, 0);
  await tideline.statuses.get("a/../b?c");
  assert.equal(requests[0].url.pathname, "/api/v1/statuses/a%2F..%2Fb%3Fc");
  assert.throws(() => new Tideline("feed.example.org"), /no address of Tideline/);
});

test("only the cursors of a link are used", async () => {
  const link = '<http://elsewhere.test/steal?max_id=3&limit=9>; rel="next", <http://elsewhere.test/?min_id=5>; rel="prev"';
  const { requests, tideline } = answering(() => json([{ id: "4" }], 200, { Link: link }), () => json([{ id: "2" }]));
  const ids = [];
  for await (const { id } of tideline.timelines.home({ limit: 1 })) ids.push(id);
  assert.deepEqual(ids, ["4", "2"]);
  assert.deepEqual(requests.map(({ url }) => url.href), ["http://feed.test/api/v1/timelines/home?limit=1", "http://feed.test/api/v1/timelines/home?limit=1&max_id=3"]);
});

test("a file is sent as a form, and the token is in no text of the client", async () => {
  const { requests, tideline } = answering(() => json({ id: "1" }));
  await tideline.media.upload({ file: new Uint8Array([1, 2]), description: "two" });
  assert.equal(requests[0].body.get("description"), "two");
  assert.equal(requests[0].body.get("file").size, 2);
  assert.equal(requests[0].headers["Content-Type"], undefined);
  assert.ok(!inspect(tideline, { depth: 9, showHidden: true }).includes("secret"));
});
