/** The OpenAPI document before a public linter, as whoever generates a client from it would check it. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkout, newDirectory } from './support/agent.ts';
import { startApi } from './support/api.ts';

const linter = join(checkout, 'node_modules/@redocly/cli/bin/cli.js');

/** The faults that the linter finds with its recommended rules. */
async function faultsOf(document: unknown): Promise<readonly { ruleId: string }[]> {
  const file = join(newDirectory('openapi'), 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const words = ['lint', file, '--extends', 'recommended', '--format', 'json'];
  // It would ask its makers for a newer version, and tell them how it is used.
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { env: { ...process.env, ...quiet }, maxBuffer: 64 * 1024 ** 2 };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [linter, ...words], options).catch(
    // Its exit code is 1 if there are faults.
    (error: { stdout: string }) => error,
  );
  const { problems } = JSON.parse(stdout) as {
    problems: readonly { ruleId: string; severity: string }[];
  };
  return problems.filter(({ severity }) => severity === 'error');
}

test('a public linter finds no fault in the OpenAPI document, and one that is planted', async () => {
  const api = await startApi();
  const { json } = await api.call('GET', '/v1/openapi.json', { token: null });
  expect(await faultsOf(json)).toEqual([]);
  const broken = { ...json, paths: { ...json.paths, '/v1/{lost}': { get: { responses: 7 } } } };
  expect((await faultsOf(broken)).length).toBeGreaterThan(0);
});
