/** The one connection of this tab. Pages read it with `query(…)`, and act with `live().client`. */
import { untrack } from 'svelte';
import { apiBase } from '../base.ts';
import { type Connection, connect } from '../live/connect.svelte.ts';
import { askAgain, followRights } from './permissions.svelte.ts';
import { session } from './session.svelte.ts';

let connection: Connection | undefined;

export function live(): Connection {
  if (connection === undefined) throw new Error('the session has not begun');
  return connection;
}

/**
 * Opens the connection when the session has begun, and again with each other token. It is not opened by the component that
 * first asks for it: a component does not follow state that is made while it is drawn.
 */
export function renewConnection(): void {
  if (connection === undefined) {
    connection = connect({ api: apiBase, hello: () => ({ token: session.token }) });
    endWithToken(connection);
    askWithLeader(connection);
    followRights();
  } else connection.renew();
  askAgain();
}

/** Without a leader nobody answers what the token may do, so the questions are asked again when there is one. */
function askWithLeader(opened: Connection): void {
  let wasLed = true;
  $effect.root(() => {
    $effect(() => {
      const isLed = opened.state.leaderlessMs === undefined;
      if (isLed && !wasLed) untrack(askAgain);
      wasLed = isLed;
    });
  });
}

/** The server ends the connection of a token that was deleted or has expired; the session ends with it. */
function endWithToken(opened: Connection): void {
  $effect.root(() => {
    $effect(() => {
      const { kind, problem } = opened.state;
      if (kind !== 'refused' || problem?.code !== 'token-not-found') return;
      untrack(() => session.end('Your token has expired, or was deleted. Sign in again.'));
    });
  });
}
