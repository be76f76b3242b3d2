import { afterAll, test } from 'vitest';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

afterAll(endAgents);

test('the page of alerts sets up what it says', () => runGuide('docs/operations/alerts.md'));
