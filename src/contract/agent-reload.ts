import { Type } from '../model/schema.ts';
import { endpoints } from './endpoint.ts';
import { resource } from './needs.ts';
import { text } from './query.ts';

const settings = (description: string) => Type.Array(Type.String(), { description });

/** The settings are named as in the configuration file. */
export const ReloadedSchema = Type.Object({
  Changed: settings('Settings that the agent has taken.'),
  NeedRestart: settings('Settings that differ from the files until the agent is started again.'),
});

export const agentReloadEndpoints = endpoints(
  { group: 'agent', noun: 'agent', family: 'scheduler' },
  {
    reload: {
      kind: 'write',
      methods: ['PUT', 'POST'],
      path: '/v1/agent/reload',
      isOfServer: true,
      query: { node_id: text('The node whose agent reads its files, instead of a server.') },
      summary: 'Have an agent read its configuration files and certificates again',
      answer: ReloadedSchema,
      permission: resource('agent', 'write'),
    },
  },
);
