/**
 * A client-only node in its own process. Its argument is JSON: the address of a server, an
 * introduction token, a directory and a name. SIGTERM ends it with its tasks.
 */
import { realWorld } from '../../src/base/ports-real.ts';
import { NodeAgent } from '../../src/node/node-agent.ts';
import { httpServerApi } from '../../src/node/server-api-http.ts';

const { address, introductionToken, dataDirectory, name } = JSON.parse(process.argv[2]!) as {
  readonly address: string;
  readonly introductionToken: string;
  readonly dataDirectory: string;
  readonly name: string;
};

const agent = new NodeAgent({
  world: realWorld,
  api: httpServerApi({ servers: [address] }),
  introduction: async () => introductionToken,
  dataDirectory,
  version: '0.0.0',
  region: 'global',
  settings: { name, address: '127.0.0.1' },
  allowedDrivers: { allow: ['exec', 'java', 'raw_exec'] },
  endWithAgent: true,
  environment: process.env,
  onNotice: (sentence) => process.stderr.write(`${sentence}\n`),
});
// Its own timers do not keep the process alive.
const alive = setInterval(() => {}, 1 << 30);
await agent.start();
process.stdout.write(`node ${agent.id}\n`);
process.once('SIGTERM', () => {
  clearInterval(alive);
  void agent.stop({ stopTasks: true }).then(() => process.exit(0));
});
