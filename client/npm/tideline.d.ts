import type { AccountGroups, ServiceGroups } from "./operations.js";

export type * from "./operations.js";

/** `deadlineMs`: how long a call may take with all its tries, 10,000 unless it says so. Tideline learns it, too. */
export interface CallOptions { deadlineMs?: number; signal?: AbortSignal }

/** `retries`: further tries of what can be repeated. `fetch`: your own, for a proxy or tests. */
export interface ClientOptions { deadlineMs?: number; retries?: number; fetch?: typeof globalThis.fetch }

/** Where a page is, as parameters of the call that gave the page. */
export interface Cursor { max_id?: string; min_id?: string; since_id?: string }

/** `next`: the older page; null at the end. `total`: how many the list has, where Tideline says it. */
export interface Page<T> { items: T[]; next: Cursor | null; previous: Cursor | null; total: number | null }

/** A list. Nothing is asked until it is read: `for await (const item of pages)` reads all, `first()` one page. */
export class Pages<T> implements AsyncIterable<T> {
  first(): Promise<Page<T>>;
  byPage(): AsyncIterable<Page<T>>;
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

export type StreamName = "user" | "user/notification" | "public" | "public/media" | "hashtag" | "list" | "direct";

/** `event`: `update`, `delete`, `notification` …; `resume` after a pause. `id`: goes on from here later. */
export interface StreamEvent { event: string; data: string; id: string }

export interface StreamOptions { tag?: string; list?: string; lastEventId?: string; signal?: AbortSignal }

/** Streams need the token of a person. */
export interface Streams {
  /** Events without an end, over all connections. Ends when `signal` is aborted. */
  follow(name: StreamName, options?: StreamOptions): AsyncIterable<StreamEvent>;
}

export interface Tideline extends AccountGroups, ServiceGroups { streams: Streams }
/** One Tideline, for a token of a service or of a person. */
export class Tideline {
  constructor(url: string, token?: string | null, options?: ClientOptions);
  /** The same service as one account. Its answers are those that the account itself gets. Cost: no call. */
  actingFor(accountId: string): AccountGroups;
  /** As `actingFor`, by the id that your product has for the person. Cost: a call. Throws: NotFound. */
  actingForExternalId(externalId: string): Promise<AccountGroups>;
}

/** A call did not do what it was asked for. `requestId` is in the logs of Tideline too. */
export class TidelineError extends Error { requestId: string }
/** No answer came. A write may have been done. */
export class Unreachable extends TidelineError {}
/** The time of the call is over, here or at Tideline (504). A write may have been done. */
export class DeadlineExceeded extends TidelineError {}
/** The answer is not Tideline's: is the address right? */
export class UnexpectedAnswer extends TidelineError {}
/** Tideline answered with an error. `details`: by field, often empty. `retryAfterMs`: 0 unless it is to be tried again. */
export class Refused extends TidelineError { status: number; details: Record<string, unknown>; retryAfterMs: number }
/** 401: the token is missing, wrong, expired or revoked. */
export class TokenRefused extends Refused {}
/** 403: the token lacks a scope, or the account is frozen or suspended. */
export class NotAllowed extends Refused {}
/** 404: it does not exist, or the account may not see it. */
export class NotFound extends Refused {}
/** 410: events behind this position may be gone; or the post of an `idempotency_key` was deleted. */
export class PositionGone extends Refused {}
/** 400, 413, 415, 422: a parameter is wrong. The text names it. */
export class InvalidRequest extends Refused {}
/** 429: the token has made too many requests. */
export class QuotaUsedUp extends Refused {}
/** 503: a store of Tideline does not answer. 502: a proxy does not reach Tideline. */
export class Unavailable extends Refused {}
