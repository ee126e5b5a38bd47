/* The client against a Tideline that runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidRequest, NotAllowed, NotFound, Tideline, TokenRefused } from "tideline-client";

const { TIDELINE_URL, SERVICE_TOKEN, READER_TOKEN, BEN_TOKEN, IMAGE } = process.env;
const tideline = new Tideline(TIDELINE_URL, SERVICE_TOKEN);

const until = async (look) => {
  const endsAt = performance.now() + 30_000;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    assert.ok(performance.now() < endsAt, "it never came");
    await new Promise((done) => { setTimeout(done, 50); });
  }
};
const putPerson = async (name) => (await tideline.provisioning.put(`user-${name}`, { username: name, display_name: name })).account_id;

test("a post reaches those who follow, in pages and in a stream", async (t) => {
  const annId = await putPerson("ann"), ann = await tideline.actingForExternalId("user-ann");
  const ben = new Tideline(TIDELINE_URL, BEN_TOKEN);
  assert.ok((await ben.accounts.follow(annId)).following);
  const stopping = new AbortController(), shown = [];
  t.after(() => stopping.abort());
  const listening = (async () => {
    for await (const { event, data } of ben.streams.follow("user", { signal: stopping.signal })) {
      shown.push(event === "update" && JSON.parse(data).id);
    }
  })();
  const image = await ann.media.upload({ file: Buffer.from(IMAGE, "base64"), description: "A sea" });
  const ids = [];
  for (let n = 0; n < 3; n += 1) ids.push((await ann.statuses.create({ status: `Wave ${n} #tide`, media_ids: n ? [] : [image.id] })).id);
  await until(async () => (await ben.timelines.home({ limit: 40 }).first()).items.length === 3);
  const read = [];
  for await (const { id } of ben.timelines.home({ limit: 1 })) read.push(id);
  assert.deepEqual(read, ids.toReversed());
  const page = await ben.timelines.home({ limit: 2 }).first();
  assert.deepEqual((await ben.timelines.home({ limit: 2, ...page.next }).first()).items.map(({ id }) => id), [ids[0]]);
  const later = (await ann.statuses.create({ status: "Heard" })).id;
  await until(() => shown.includes(later));
  stopping.abort();
  await listening;
  await ben.statuses.favourite(ids[0]);
  await until(async () => (await ann.statuses.get(ids[0])).favourites_count === 1);
  assert.equal((await ann.statuses.get(ids[0])).media_attachments[0].description, "A sea");
  await ann.statuses.delete(ids[0]);
  await assert.rejects(ben.statuses.get(ids[0]), NotFound);
});

test("refusals have their classes", async () => {
  const cyd = await putPerson("cyd");
  await assert.rejects(new Tideline(TIDELINE_URL, "wrong").actingFor("1").timelines.home().first(), TokenRefused);
  await assert.rejects(new Tideline(TIDELINE_URL, READER_TOKEN).actingFor(cyd).statuses.create({ status: "no" }), NotAllowed);
  await assert.rejects(tideline.actingFor("ann").timelines.home().first(), InvalidRequest);
  await assert.rejects(tideline.provisioning.get("user-7"), NotFound);
});
