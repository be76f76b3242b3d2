import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to plans does what it says', { timeout: 120_000 }, () =>
  runGuide('docs/guides/plans.md'),
);
