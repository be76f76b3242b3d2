import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to search and attention does what it says', { timeout: 120_000 }, () =>
  runGuide('docs/guides/finding.md'),
);
