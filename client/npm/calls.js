/* The generated operations as requests. Nothing here waits. */
import { NotFound } from "./errors.js";
import { Pages } from "./pages.js";

/* An id as a part of a path. `.` and `..` would lead the request to another address. */
const pathPart = (value) => {
  if (value === "." || value === "..") throw new NotFound(404, `nothing has the id "${value}"`);
  return encodeURIComponent(value);
};

export const queryOf = (pairs) => {
  const query = new URLSearchParams();
  for (const [name, value] of pairs) for (const each of [value].flat()) query.append(name, String(each));
  return query;
};

const bodyOf = (pairs, files) => {
  if (!files) return JSON.stringify(Object.fromEntries(pairs));
  const form = new FormData();
  for (const [name, value] of pairs) form.append(name, files.includes(name) && !(value instanceof Blob) ? new Blob([value]) : value);
  return form;
};

const hasParameters = ({ query, body, hasKey }) => Boolean(query || body || hasKey);

/* An operation and its arguments as a request. What the operation does not know is an error, not ignored. */
const requestOf = (operation, given) => {
  const { verb, path, of, query, body, files, hasKey } = operation;
  const ids = given.slice(0, of.length), parameters = hasParameters(operation) ? given[of.length] ?? {} : {};
  const sent = { path: path.replace(/{(\w+)}/g, (_, name) => pathPart(String(ids[of.indexOf(name)]))), headers: {}, verb };
  const missing = of.find((_, n) => ids[n] === undefined || ids[n] === null);
  if (missing) throw new TypeError(`${missing} is missing`);
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  const unknown = entries.find(([name]) => !(query && name in query) && !(body && name in body) && !(hasKey && name === "idempotency_key"));
  if (unknown) throw new TypeError(`there is no parameter ${unknown[0]}`);
  sent.query = queryOf(entries.filter(([name]) => query && name in query).map(([name, value]) => [query[name], value]));
  if (body) sent.body = bodyOf(entries.filter(([name]) => name in body).map(([name, value]) => [body[name], value]), files);
  if (body && !files) sent.headers["Content-Type"] = "application/json";
  if (hasKey) sent.headers["Idempotency-Key"] = parameters.idempotency_key ?? crypto.randomUUID();
  return sent;
};

/* The calls of a group, made from the table of its operations. */
const callsOf = (connection, operations) => Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, (...given) => {
  const options = given[operation.of.length + (hasParameters(operation) ? 1 : 0)];
  if (operation.pages !== undefined) return new Pages(connection, operation, requestOf(operation, given), options);
  return Promise.resolve().then(() => connection.send(operation, requestOf(operation, given), options)).then(({ value }) => value);
}]));

export const groupsOf = (connection, table) => Object.fromEntries(Object.entries(table).map(([group, operations]) => [group, callsOf(connection, operations)]));
