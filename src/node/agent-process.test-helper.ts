/**
 * A node agent as a process of its own, so that a test can kill it. Its fake servers assign the
 * allocations of its argument, and each report is a line of its output.
 */
import { realWorld } from '../base/ports-real.ts';
import type { UidRange } from '../model/node/uid-range.ts';
import { FakeServers } from './fake-servers.test-helper.ts';
import { NodeAgent } from './node-agent.ts';
import type { Assignment } from './server-api.ts';

const {
  dataDirectory,
  assignments,
  secretsInMemory = false,
  uidRange,
  uidRegistry,
} = JSON.parse(process.argv[2]!) as {
  dataDirectory: string;
  assignments: Assignment[];
  secretsInMemory?: boolean;
  uidRange?: UidRange;
  uidRegistry?: string;
};

class TellingServers extends FakeServers {
  override async reportStatus(...call: Parameters<FakeServers['reportStatus']>): Promise<void> {
    await super.reportStatus(...call);
    for (const report of call[1]) process.stdout.write(`${JSON.stringify(report)}\n`);
  }
}

const api = new TellingServers();
api.assign(assignments);
const agent = new NodeAgent({
  world: realWorld,
  api,
  dataDirectory,
  version: '0.0.0',
  region: 'global',
  settings: {},
  allowedDrivers: { allow: ['docker', 'exec', 'java', 'raw_exec'] },
  endWithAgent: false,
  secretsInMemory,
  ...(uidRange !== undefined && { isolation: { uidRange } }),
  ...(uidRegistry !== undefined && { uidRegistry }),
  environment: process.env,
  onNotice: (sentence) => process.stderr.write(`${sentence}\n`),
});
process.stdin.resume();
await agent.start();
