/* Streams of one account or of the public: server-sent events, resumed where they broke off. */
import { queryOf } from "./calls.js";
import { sleep } from "./connection.js";
import { TidelineError, UnexpectedAnswer, Unreachable, errorOf, mayPass } from "./errors.js";

/* Tideline sends something every 15 seconds, so a stream that is silent for longer is dead. */
const SILENCE_MS = 45_000, FIRST_PAUSE_MS = 1_000, LONGEST_PAUSE_MS = 30_000, MOST_EVENT = 4_000_000;

/* The events of a stream in the format of the HTML standard. */
async function* eventsIn(chunks, beat) {
  const decoder = new TextDecoder();
  let rest = "", fields = {};
  for await (const chunk of chunks) {
    beat();
    const lines = (rest + decoder.decode(chunk, { stream: true })).replaceAll("\r\n", "\n").split("\n");
    rest = lines.pop();
    if (rest.length > MOST_EVENT) throw new UnexpectedAnswer("a message of the stream is too long");
    for (const line of lines) {
      const colon = line.indexOf(":"), name = colon < 0 ? line : line.slice(0, colon);
      if (!line) { yield fields; fields = {}; }
      if (!name) continue;
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      fields[name] = name === "data" && "data" in fields ? `${fields.data}\n${value}` : value;
    }
  }
}

/* One connection of a stream: it ends when it is silent, when the process stops, or when `signal` says so. */
async function* oneStream(connection, url, lastId, signal) {
  const silence = new AbortController();
  let timer;
  const beat = () => { clearTimeout(timer); timer = setTimeout(() => silence.abort(), SILENCE_MS); };
  beat();
  try {
    const headers = { ...connection.headers(), Accept: "text/event-stream", ...(lastId && { "Last-Event-ID": lastId }) };
    const answer = await connection.options.fetch(url, { headers, redirect: "manual", signal: AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]) });
    if (answer.status !== 200) throw errorOf(answer, await answer.text(), "");
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) throw new UnexpectedAnswer(`${url} is no stream: is the address of Tideline right?`);
    yield* eventsIn(answer.body, beat);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw cause instanceof TidelineError ? cause : new Unreachable(`the stream broke off: ${cause.message}`, "", { cause });
  } finally {
    clearTimeout(timer);
  }
}

/* Over all connections of a stream. It goes on behind the last event, and ends when `signal` says so. */
async function* follow(connection, streamingUrl, name, { lastEventId = "", signal, ...parameters } = {}) {
  const query = queryOf(Object.entries(parameters)), path = `/api/v1/streaming/${name}${query.size ? `?${query}` : ""}`;
  let lastId = lastEventId, pause = FIRST_PAUSE_MS, hasAnswered = false;
  while (!signal?.aborted) {
    try {
      for await (const { event, data = "", id } of oneStream(connection, `${await streamingUrl()}${path}`, lastId, signal)) {
        pause = FIRST_PAUSE_MS; hasAnswered = true; lastId = id ?? lastId;
        if (event) yield { event, data, id: lastId };
      }
    } catch (error) {
      if (signal?.aborted) return;
      const isFault = error.status >= 500 || hasAnswered && error instanceof UnexpectedAnswer;
      if (!mayPass(error) && !isFault) throw error;
      await sleep(Math.max(pause * (1 + Math.random()) / 2, error.retryAfterMs ?? 0), signal).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }
}

/* The address of the streaming process, for HTTP. */
const streamingUrlOf = (site) => {
  const named = String(site.configuration?.urls?.streaming ?? "");
  if (!/^wss?:/.test(named)) throw new UnexpectedAnswer(`the site names no address of streams, but "${named}"`);
  return named.replace(/^ws/, "http").replace(/\/+$/, "");
};

/* The streams of a connection. `getSite`: the call that says where they are; it is asked once a stream begins. */
export const streamsOf = (connection, getSite) => ({
  follow: (name, options) => follow(connection, async () => streamingUrlOf(await getSite()), name, options),
});
