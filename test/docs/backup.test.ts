import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the guide to backup and restore does what it says', { timeout: 180_000 }, () =>
  runGuide('docs/operations/backup.md'),
);
