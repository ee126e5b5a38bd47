/* Pages of a list, by cursor: the next one is where the `Link` header says. */

const CURSORS = ["max_id", "min_id", "since_id"];

/* Only the cursors of a link are used: it cannot lead a token to another address. */
const cursorIn = (headers, rel) => {
  const url = headers.get("link")?.match(new RegExp(`<([^>]*)>\\s*;\\s*rel="?${rel}"?`))?.[1];
  if (!url) return null;
  return Object.fromEntries([...new URL(url, "http://any").searchParams].filter(([name]) => CURSORS.includes(name)));
};

/* A list. Nothing is asked until it is read: `for await (const item of pages)` reads all, `first()` one page. */
export class Pages {
  #connection; #operation; #request; #options;
  constructor(connection, operation, request, options) {
    this.#connection = connection; this.#operation = operation; this.#request = request; this.#options = options;
  }

  first() { return this.#read(this.#request); }

  async *byPage() {
    for (let request = this.#request; request;) {
      const page = await this.#read(request);
      yield page;
      request = page.next && this.#at(page.next);
    }
  }

  async *[Symbol.asyncIterator]() { for await (const page of this.byPage()) yield* page.items; }

  #at(cursor) {
    const query = new URLSearchParams(this.#request.query);
    /* A page around a status has neighbours that are not around it. */
    for (const name of [...CURSORS, "around_id"]) query.delete(name);
    for (const [name, text] of Object.entries(cursor)) query.set(name, text);
    return { ...this.#request, query };
  }

  async #read(request) {
    const { value, headers } = await this.#connection.send(this.#operation, request, this.#options);
    const items = this.#operation.pages ? value[this.#operation.pages] : value;
    return { items, next: cursorIn(headers, "next"), previous: cursorIn(headers, "prev"), total: value.count ?? null };
  }
}
