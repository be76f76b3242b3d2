// A server without a node in its own process, which tests may end.
import { createAgent } from '../../src/agent.ts';
import { rootToken } from '../support/api.ts';

const perLoopbackMax = Number(process.argv[2] ?? 0);
const agent = await createAgent({
  http: { host: '127.0.0.1', port: 0 },
  connections: { perAddressMax: perLoopbackMax, perLoopbackMax },
  rootToken,
});
process.stdout.write(`${agent.address}\n`);
setInterval(() => {}, 1000);
