/* What a call can throw, and how an answer of HTTP is read. Every error is a `TidelineError`. */

const LONGEST_WAIT_MS = 3_600_000;

export class TidelineError extends Error {
  constructor(text, requestId = "", options = undefined) {
    super(requestId ? `${text} (request ${requestId})` : text, options);
    this.name = this.constructor.name;
    this.requestId = requestId;
  }
}
export class Unreachable extends TidelineError {}
export class DeadlineExceeded extends TidelineError {}
export class UnexpectedAnswer extends TidelineError {}
export class Refused extends TidelineError {
  constructor(status, text, requestId = "", details = {}, retryAfterMs = 0) {
    super(`${status}: ${text}`, requestId);
    Object.assign(this, { status, details, retryAfterMs });
  }
}
export class TokenRefused extends Refused {}
export class NotAllowed extends Refused {}
export class NotFound extends Refused {}
export class PositionGone extends Refused {}
export class InvalidRequest extends Refused {}
export class QuotaUsedUp extends Refused {}
export class Unavailable extends Refused {}

const REFUSALS = {
  400: InvalidRequest, 401: TokenRefused, 403: NotAllowed, 404: NotFound, 410: PositionGone, 413: InvalidRequest,
  415: InvalidRequest, 422: InvalidRequest, 429: QuotaUsedUp, 502: Unavailable, 503: Unavailable,
};
/* Another try may help. */
export const mayPass = (error) => [Unreachable, DeadlineExceeded, QuotaUsedUp, Unavailable].some((kind) => error instanceof kind);

/* Of Retry-After, which has whole seconds; a proxy may send a date instead. */
const waitOf = (text) => {
  const ms = /^\d+$/.test(text ?? "") ? Number(text) * 1000 : Date.parse(text ?? "") - Date.now();
  return Number.isNaN(ms) ? 1000 : Math.min(Math.max(ms, 0), LONGEST_WAIT_MS);
};

export const errorOf = (answer, text, requestId) => {
  let body = {};
  try { body = JSON.parse(text) ?? {}; } catch { /* the page of a proxy */ }
  const said = typeof body.error === "string" ? body.error : `${answer.url} was answered with ${answer.status}`;
  if (answer.status === 504) return new DeadlineExceeded(said, requestId);
  if (answer.status < 400) return new UnexpectedAnswer(`${said}: is the address of Tideline right?`, requestId);
  const Kind = REFUSALS[answer.status] ?? Refused;
  return new Kind(answer.status, said, requestId, body.details ?? {}, waitOf(answer.headers.get("retry-after")));
};

export const read = (text, requestId) => {
  try { return JSON.parse(text); } catch (cause) { throw new UnexpectedAnswer("the answer is not JSON", requestId, { cause }); }
};
