"""Pages for clients that poll, with posts that became visible below their cursor (ADR 0034).

A record says what clients with a cursor were served. Its *floor* is the time from which a post may
be missing. Why no post is lost: a client has cursor N from a page whose query had the shard's time
t. Let post L be below N, visible to this reader from v on, and not on that page. Then v > t: the
query ran before the entries were read.

- L is visible at most 200 ms after its arrival, or it is settled after v, to at most 200 ms before
  that is visible. A poll uses no copies of hot authors' entries. So for a poll the visible time of
  L is above t - 250 ms, with 50 ms for clocks. An ordinary page may use copies that are a second
  old: above t - 1.25 s.
- A record of a poll has a floor of at most t - 250 ms, and L is not among its served ids. So the
  next poll returns L. If L is settled later, its visible time rises, and a later poll returns L. A
  drain that dies before that repeats the delivery.
- A record of two pages has an id only if both had it. A page that takes longer than five seconds
  is not covered. What only one of them had is returned with the page that moves a client on, and no
  record changes by that at the cursor which the client leaves: so each of its clients gets it.
- No post is returned a third time. A page returns L again only if its new cursor M is 1.25 s newer
  than L is visible. Each page that ends at M or above was read after M was visible, so it had L.
  If a full page owes L, only clients that poll in the same way may get it again.
- Without a record t is not known. But N was on the page, so N arrived before t: the floor is the
  arrival of N less 250 ms. If N's row is missing, is the reader's own or arrived late, it is the
  second of N, less a second for clocks that differ, less the margin.
- The second of N is that of a web process. If N arrived before its second, the clock of that
  process was ahead, and the floor is again the arrival of N; of an own post, ten seconds earlier.
- A floor in the future is of a clock that went back since. The poll returns what became visible in
  the last hour instead.
- A rebuild reads the index, which has every row before its push. So it changes no visible time.

With RECENT_INDEX=by_author times are those of the authors' shards, and t is that of the process.
Their clocks differ by less than a second, so the floor of a record is at most t - 1.25 s.

A page by `since_id` that is full has a range for the client to go down to. Late posts are owed to
the next poll. If a shard does not answer, the page is served from Redis, and its record keeps the
old floor. If Redis does not answer either, the page is refused, and the client keeps its cursor.
"""
