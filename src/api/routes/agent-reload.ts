import { agentReloadEndpoints as contract } from '../../contract/agent-reload.ts';
import { invalid } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { Server } from '../../server/server.ts';
import { auditedReload, type Reload, type Reloaded } from '../reload.ts';
import type { Route } from '../route.ts';
import { serveWrite } from '../serve.ts';
import { askNodeForText } from './ask-node.ts';
import { namedNode } from './named-node.ts';

/** Source: docs/reference/agent-configuration.md#reload. */
export const agentReloadRoutes = (server: Server, reload: Reload): Route[] =>
  serveWrite(contract.reload, async (input) => {
    const nodeId = namedNode(input);
    const value = nodeId === '' ? await reload() : await reloadOfNode(server, nodeId);
    return { value, made: auditedReload(value) };
  });

/** @throws RosterError `configuration-faulty` with the faults of its files */
async function reloadOfNode(server: Server, nodeId: string): Promise<Reloaded> {
  const { signal } = new AbortController();
  const text = await askNodeForText(server, { nodeId, kind: 'reload', params: {}, signal });
  const { Changed, NeedRestart, Faults } = (JSON.parse(text) ?? {}) as Partial<
    Record<keyof Reloaded | 'Faults', unknown>
  >;
  const faults = textsIn(Faults);
  if (faults.length > 0) {
    const found = faults.map((message) => ({ pointer: '', message }));
    throw invalid('configuration-faulty', found);
  }
  return { Changed: textsIn(Changed), NeedRestart: textsIn(NeedRestart) };
}

/** A node may tell anything. */
const textsIn = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((one) => typeof one === 'string').slice(0, limits.node.reloadedMax)
    : [];
