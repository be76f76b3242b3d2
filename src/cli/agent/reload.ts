import type { ClientCommand } from '../definition.ts';
import { resolveNode } from '../nouns.ts';

export const agentReload: ClientCommand = {
  words: ['agent', 'reload'],
  summary: 'Have the agent read its configuration files again.',
  definition: {
    options: [
      {
        name: 'node-id',
        value: 'NODE',
        completes: 'node',
        description:
          'The agent of this node instead of a server: its id, 8 or more characters of it, or its name.',
      },
    ],
    details: `The agent that is asked reads its configuration files and certificates again. It takes the settings that can change
while it runs, and names those that need a restart. If a file has a fault, nothing changes, and all faults
are printed. Signal SIGHUP does the same to the process of an agent.

"roster agent validate" checks files before a reload. docs/reference/agent-configuration.md lists the settings that
can be reloaded. The token needs agent:write.`,
  },
  async run(context, _words, options) {
    const named = options.text('nodeId');
    const node = named === undefined ? undefined : await resolveNode(context, named);
    const { value } = await context.client.agent.reload({ node });
    return context.show(value, async () => {
      const { Changed, NeedRestart } = value;
      const { screen } = context;
      if (Changed.length > 0) await screen.line(`Changed: ${Changed.join(', ')}`);
      if (NeedRestart.length > 0) {
        await screen.line(`Unchanged until the agent restarts: ${NeedRestart.join(', ')}`);
      }
      if (Changed.length + NeedRestart.length === 0) await screen.line('Nothing has changed.');
    });
  },
};
