/** The OpenAPI document before a public linter, as whoever generates a client from it would check it. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkout, newDirectory } from './support/agent.ts';
import { startApi } from './support/api.ts';

const linter = join(checkout, 'node_modules/@redocly/cli/bin/cli.js');

/** The faults and warnings of the linter with its recommended rules. */
async function problemsOf(document: unknown) {
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
  return problems;
}

const faultsOf = async (document: unknown) =>
  (await problemsOf(document)).filter(({ severity }) => severity === 'error');

test('a public linter finds no fault in the OpenAPI document, and one that is planted', async () => {
  const api = await startApi();
  const { json } = await api.call('GET', '/v1/openapi.json', { token: null });
  // The published paths are ambiguous in its eyes, and `default` describes the refusals of every operation.
  const known = new Set((await problemsOf(json)).map(({ ruleId }) => ruleId));
  expect([...known].sort()).toEqual(['no-ambiguous-paths', 'operation-4xx-response']);
  const broken = { ...json, paths: { ...json.paths, '/v1/{lost}': { get: { responses: 7 } } } };
  expect((await faultsOf(broken)).length).toBeGreaterThan(0);
});
