import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the tour of the web interface does what it says', { timeout: 120_000 }, () =>
  runGuide('docs/guides/web-interface.md'),
);
