import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { resolveNode } from '../nouns.ts';

const forms = ['prometheus', 'openmetrics', 'json'] as const;

export const operatorMetrics: ClientCommand = {
  words: ['operator', 'metrics'],
  summary: 'Print the metrics of a server, or of a node.',
  definition: {
    options: [
      { name: 'format', value: 'FORMAT', choices: forms, description: 'The form (prometheus).' },
      {
        name: 'node',
        value: 'NODE',
        completes: 'node',
        description: 'The metrics of this node and of the tasks on it, by id or name.',
      },
    ],
    details: `The metrics are described in docs/reference/metrics.md. With -json the form is JSON. Needs the right agent:read.`,
  },
  async run(context, _, options) {
    const { client, environment } = context;
    const format = context.isJson ? 'json' : (options.text('format') ?? 'prometheus');
    const node = options.text('node');
    const id = node && (await resolveNode(context, node));
    return context.untilInterrupted(async (signal) => {
      const pieces = id
        ? client.nodes.metrics(id, { format, signal })
        : client.agent.metricsText({ format, signal });
      for await (const piece of pieces) await environment.stdout.write(piece);
      return exitCodes.ok;
    });
  },
};
