import { type LogLevel, logLevels } from '../../model/monitor/log-level.ts';
import type { ClientCommand, OptionDefinition } from '../definition.ts';
import { CliError, Interrupted } from '../errors.ts';
import { resolveNode } from '../nouns.ts';
import type { Options } from '../options.ts';
import { oneLine } from '../render/text.ts';

export const logLevelOption: OptionDefinition = {
  name: 'log-level',
  value: 'LEVEL',
  choices: logLevels,
  description: 'The least level of the lines, whatever the agent writes itself (info).',
};

/** The level that is given. @throws CliError */
export function logLevelIn(options: Options): LogLevel | undefined {
  const level = options.text('logLevel')?.toLowerCase() as LogLevel | undefined;
  if (level === undefined || logLevels.includes(level)) return level;
  throw new CliError(
    `--log-level must be one of ${logLevels.join(', ')}, got "${oneLine(level)}".`,
  );
}

export const monitor: ClientCommand = {
  words: ['monitor'],
  summary: 'Follow the log of an agent.',
  definition: {
    options: [
      logLevelOption,
      {
        name: 'server-id',
        value: 'ID',
        completes: 'server',
        description: 'This server: its id, its address, or leader (the server that is asked).',
      },
      {
        name: 'node-id',
        value: 'NODE',
        completes: 'node',
        description:
          'This node instead of a server: its id, 8 or more characters of it, or its name.',
      },
    ],
    details: `Prints the lines from now on, until Ctrl-C. With -json each line is JSON. Lines that come faster than they can be
sent are dropped, and a line says how many. Needs agent:read.

Examples:
  roster monitor -log-level debug
  roster monitor -server-id leader -json
  roster monitor -node-id alpha`,
  },
  async run(context, _words, options) {
    const { client, environment, isJson } = context;
    const level = logLevelIn(options);
    const server = options.text('serverId');
    const named = options.text('nodeId');
    if (server !== undefined && named !== undefined) {
      throw new CliError('--server-id and --node-id exclude each other: name one agent.');
    }
    const node = named === undefined ? undefined : await resolveNode(context, named);
    return context.untilInterrupted(async (signal) => {
      const lines = client.agent.monitor({ level, isJson, server, node, signal });
      for await (const text of lines) await environment.stdout.write(text);
      throw new Interrupted();
    });
  },
};
