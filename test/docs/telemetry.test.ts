import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { freePorts } from '../support/etcd.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to traces and metrics does what it says', { timeout: 120_000 }, async () => {
  const [port] = await freePorts(1);
  const replace = { '127.0.0.1:4318': `127.0.0.1:${port}`, '4318,': `${port},` };
  await runGuide('docs/operations/telemetry.md', { replace });
});
