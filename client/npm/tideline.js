/* The door of the package: one Tideline, for a token of a service or of a person. */
import { groupsOf } from "./calls.js";
import { Connection } from "./connection.js";
import { OF_ACCOUNTS, OF_SERVICES } from "./operations.js";
import { streamsOf } from "./streams.js";

export * from "./errors.js";
export { Pages } from "./pages.js";

export class Tideline {
  #connection;
  constructor(url, token, options) {
    const connection = new Connection(url, token, options);
    this.#connection = connection;
    Object.assign(this, groupsOf(connection, OF_ACCOUNTS), groupsOf(connection, OF_SERVICES));
    this.streams = streamsOf(connection, () => this.site.get());
  }

  /* The same service as one account. Its answers are those that the account itself gets. Cost: no call. */
  actingFor(accountId) { return groupsOf(this.#connection.as(accountId), OF_ACCOUNTS); }

  /* As `actingFor`, by the id that your product has for the person. Cost: a call. Throws: NotFound. */
  async actingForExternalId(externalId) { return this.actingFor((await this.provisioning.get(externalId)).account_id); }
}
