import { queryOf } from '../contract/shared-query.ts';
import { refusal } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { type Member, ServerGone, type Servers } from '../server/servers.ts';
import { type Answer, type Request, untilGone } from './http.ts';
import { parseQuery } from './query.ts';
import type { Route } from './route.ts';
import type { Trail } from './trail.ts';

const parameter = /(^|&)server_?id=[^&]*/gi;

/** Passes requests about a server on to the server that they name by `server_id`. It makes all checks itself. */
export class NamedServer {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** `undefined`: the request is for this server. @throws RosterError `server-not-found` */
  answer(
    { endpoint }: Pick<Route, 'endpoint'>,
    request: Request,
    trail: Trail,
  ): Promise<Answer> | undefined {
    if (!endpoint.isOfServer || request.query.search(parameter) < 0) return undefined;
    const { values } = parseQuery(queryOf(endpoint), request.query);
    const name = (values as { readonly server_id?: string }).server_id;
    if (!name) return undefined;
    const member = this.#memberNamed(name);
    if (member === undefined) throw refusal('server-not-found', { id: name });
    return member.id === this.#servers.id ? undefined : this.#askServer(member, request, trail);
  }

  #memberNamed(name: string): Member | undefined {
    if (name === 'leader') {
      const leader = this.#servers.leader();
      if (leader === undefined) throw refusal('no-leader');
      return leader;
    }
    return this.#servers.members().find(({ id, address }) => id === name || address === name);
  }

  async #askServer({ id }: Member, request: Request, trail: Trail): Promise<Answer> {
    trail.forwardedTo = id;
    const { method, path, query, headers, body, remoteAddress } = request;
    // By its id, so that servers that know different leaders do not pass it to and fro.
    const named = query.replace(parameter, `$1server_id=${encodeURIComponent(id)}`);
    const asked = { method, path, query: named, headers, body, remoteAddress };
    const patience = { deadlineMs: limits.servers.askMs, gone: untilGone(request) };
    try {
      return await this.#servers.ask(id, asked, patience);
    } catch (error) {
      throw error instanceof ServerGone ? refusal('server-unreachable', { server: id }) : error;
    }
  }
}
