import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the page of the web interface serves and shows what it says', () =>
  runGuide('docs/operations/web-interface.md'));
