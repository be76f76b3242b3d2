import { refusal } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { ServerContext } from '../context.ts';
import type { Servers } from '../servers.ts';

/**
 * Since when no server leads, as far as this server knows, in Unix milliseconds. Once it has resolved, the
 * newest view shows every node that a leader had missed before the call: the log was read to its end after
 * the call, or every server is connected, says that it does not lead, and knows no more than this one.
 *
 * So a server that is cut off from the others, and from the log, tells a node nothing while another leader
 * may replace what the node runs.
 * @throws RosterError `no-leader`: this server cannot know
 */
export async function leaderlessSince(
  { state, world }: Pick<ServerContext, 'state' | 'world'>,
  servers: Servers,
): Promise<number> {
  const { clock, timers } = world;
  const late = Promise.withResolvers<boolean>();
  const timer = timers.after(limits.servers.leaderlessMs, () => late.resolve(false));
  const read = state.exact()?.then(
    () => true,
    () => false,
  );
  const isRead = await Promise.race([read, late.promise]);
  timer.clear();
  if (isRead === false && !servers.noneLeads()) throw refusal('no-leader');
  return clock.nowMs() - servers.leaderHeardMs();
}
