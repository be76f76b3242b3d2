import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to logs and diagnosis does what it says', { timeout: 120_000 }, () =>
  runGuide('docs/operations/diagnosis.md'),
);

test('the page about readers does what it says', { timeout: 120_000 }, () =>
  runGuide('docs/operations/readers.md'),
);
