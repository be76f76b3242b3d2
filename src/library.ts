/** The library: an agent as a function. */
import type { CreateAgentOptions, Agent as ServingAgent } from './agent.ts';
import type { WithClient } from './agent-client.ts';
import { readBuild, requireNode } from './agent-program.ts';
import type { VirtualAgent, VirtualAgentOptions } from './agent-virtual.ts';
import type { World } from './base/ports.ts';
import { realWorld } from './base/ports-real.ts';

export type { CreateAgentOptions } from './agent.ts';
export type {
  TaskBehaviour,
  VirtualAgent,
  VirtualAgentOptions,
  VirtualNodeSettings,
  VirtualTask,
} from './agent-virtual.ts';

export interface Agent extends ServingAgent, WithClient {}

/** A whole cluster inside a test: nodes and a server in virtual time, without a port, a file or a process. */
export function createAgent(options: VirtualAgentOptions): Promise<VirtualAgent>;
/** A server, a node, or both in this process. Either rejects in a Node before 22.18. */
export function createAgent(options: CreateAgentOptions): Promise<Agent>;
export async function createAgent(
  options: CreateAgentOptions | VirtualAgentOptions,
): Promise<Agent | VirtualAgent> {
  requireNode();
  const { version } = readBuild();
  if ('clock' in options) {
    return (await import('./agent-virtual.ts')).createVirtualAgent({ version, ...options });
  }
  const { createAgent: createServing } = await import('./agent.ts');
  return withClient(await createServing({ version, ...options }), options.world ?? realWorld);
}

async function withClient(agent: ServingAgent, world: World): Promise<Agent> {
  const { callersOf } = await import('./agent-client.ts');
  const { handle, close } = agent;
  const callers = callersOf({ handle }, world, agent.rootToken);
  return Object.assign(agent, {
    handle: callers.handle,
    client: callers.client,
    close: async (tasks: 'stop' | 'keep') => {
      await callers.close();
      await close(tasks);
    },
  });
}
