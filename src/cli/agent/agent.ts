import type { LocalCommand } from '../definition.ts';
import { CliError } from '../errors.ts';
import { flags } from './flags.ts';
import { AgentSource } from './source.ts';

const details = `Examples:
  roster agent --dev                              try it out
  roster agent --data-dir /var/lib/roster         keep everything
  roster agent --config /etc/roster --config site.hcl
  roster agent --server-only --http 10.0.0.1:4720 --data-dir /var/lib/roster
  roster agent --engine etcd --etcd-endpoints 10.0.0.7:2379,10.0.0.8:2379 --data-dir /var/lib/roster
  roster agent --servers http://10.0.0.1:4720,http://10.0.0.2:4720 \\
    --introduction-token-file introduction-token --data-dir /var/lib/roster

With --servers the agent is a node: it runs allocations, opens no port, and changes to the next server
when one does not answer.

Every flag has a variable, such as ROSTER_AGENT_DATA_DIR for --data-dir. Flags take precedence over variables,
and variables over files. Files have more settings than there are flags: docs/reference/agent-configuration.md
lists all of them, and the settings that are reloaded at SIGHUP or by "roster agent reload".
"roster agent validate" checks files.`;

export const agent: LocalCommand = {
  words: ['agent'],
  summary: 'Start an agent: server and node in one process.',
  definition: {
    options: flags.map(({ setting: _, isList: __, ...option }) => option),
    details,
  },
  async runLocally(environment, _words, options) {
    const source = new AgentSource(environment, options);
    const { faults, ...read } = await source.read();
    if (faults.length > 0) {
      const problem = faults.length === 1 ? 'something is' : `${faults.length} things are`;
      throw new CliError(`The agent was not started, since ${problem} wrong:`, {
        faults,
        hint: 'See "roster agent --help".',
      });
    }
    return environment.startAgent(read.options, { ...read, source });
  },
};
