import { afterAll, describe, test } from 'vitest';
import { needing, root } from '../../src/base/not-run.test-helper.ts';
import { mounting } from '../../src/node/needs.test-helper.ts';
import { endAgents } from '../support/agent.ts';
import { runGuide } from './guide.ts';

const mayMount = await mounting();

afterAll(endAgents);

test('the guide to lost things does what it says', { timeout: 180_000 }, () =>
  runGuide('docs/operations/recovery.md'),
);

test('the guide to the move of a machine does what it says', { timeout: 180_000 }, () =>
  runGuide('docs/operations/move.md'),
);

describe('guides with a disk of their own', needing(root, mayMount), () => {
  test('the guide to a full disk does what it says', { timeout: 180_000 }, () =>
    runGuide('docs/operations/full-disk.md'),
  );
});
