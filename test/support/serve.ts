// A server of its own process, without a node, for tests that may end it.
import { createAgent } from '../../src/agent.ts';
import { rootToken } from '../support/api.ts';

const host = process.argv[2] ?? '127.0.0.1';
const agent = await createAgent({ http: { host, port: 0 }, rootToken });
process.stdout.write(`${agent.address}\n`);
setInterval(() => {}, 1000);
