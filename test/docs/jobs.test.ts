import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to jobs does what it says', { timeout: 180_000 }, () =>
  runGuide('docs/guides/jobs.md'),
);
