/** The one connection of this tab. Pages read it with `query(…)`, and act with `live().client`. */
import { apiBase } from '../base.ts';
import { type Connection, connect } from '../live/connect.svelte.ts';
import { askAgain } from './permissions.svelte.ts';
import { session } from './session.svelte.ts';

let connection: Connection | undefined;

/** Opened when it is first asked for, which is after the session has begun. */
export function live(): Connection {
  connection ??= connect({ api: apiBase, hello: () => ({ token: session.token }) });
  return connection;
}

/** Each token has a connection of its own. */
export function renewConnection(): void {
  connection?.renew();
  askAgain();
}
