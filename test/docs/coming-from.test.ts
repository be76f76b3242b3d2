import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the page for users of Compose does what it says', { timeout: 120_000 }, async () => {
  await runGuide('docs/coming-from/compose.md');
});
