/** The versions of Node that documents, the package and the program name are the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireNode } from '../../src/agent-program.ts';
import { checkout } from '../support/agent.ts';

const textOf = (path: string) => readFileSync(join(checkout, path), 'utf8');

const ofClient = JSON.parse(textOf('package.json')).engines.node.replace('>=', '');

/** The oldest Node that an agent accepts, by its own refusal. */
function ofAgent(): string {
  try {
    requireNode(ofClient);
  } catch (error) {
    return /needs Node ([\d.]+) or later/.exec((error as Error).message)![1]!;
  }
  return expect.fail(
    'the package names a Node that runs agents, too: then documents need to name one only',
  );
}

test.each(['docs/operations/install.md', 'docs/guides/library.md'])('%s names both', (path) => {
  const agent = ofAgent();
  expect(() => requireNode(`${agent}.0`)).not.toThrow();
  const text = textOf(path);
  expect(text).toContain(`${ofClient} or later`);
  expect(text).toContain(`${agent} or later`);
});

test('the command accepts the same Node as the library', () => {
  expect(textOf('bin/roster')).toContain(`Node ${ofAgent()} or later is needed`);
});
