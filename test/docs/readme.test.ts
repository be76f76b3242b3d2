/**
 * The README's tour, from its first block to the metrics, in a terminal beside an agent that was
 * started as `npm start` starts it. `differs` replaces the examples of the text (ids, ports, the token),
 * and commands that do not end by themselves.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  type Agent,
  checkout,
  endAgents,
  newDirectory,
  startAgent,
  temporary,
} from '../support/agent.ts';
import { blocksOf } from './blocks.ts';
import { openShell } from './shell.ts';

afterAll(endAgents);

const readme = readFileSync(join(checkout, 'README.md'), 'utf8');
const section = (title: string): string => readme.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;

const planInReadme = '9f4cc5b6-0e1c-4f7a-8c2e-6f3a2d1b7c90';

/** The blocks of a part, each one's text. */
const blocks = (title: string): readonly string[] =>
  blocksOf(section(title)).map(({ language, text }) => {
    expect(language).toBe('sh');
    return text;
  });

/** Commands whose exit code is no failure here: a plan that has changes ends with 1. */
const ending = (command: string): string =>
  command.includes('job plan') ? `${command.split('#')[0]} || [ $? = 1 ]` : command;

type Change = (line: string) => string;

async function differs(agent: Agent): Promise<Change> {
  const path = '/v1/job/web/allocations?resources=true';
  const { ID, AllocatedResources } = await agent.until(path, (all) => {
    expect(all[0]?.ClientStatus).toBe('running');
    return all[0];
  });
  const [port] = AllocatedResources.Shared.Ports;
  return (line) =>
    line
      .replaceAll('http://127.0.0.1:4720', agent.address)
      .replaceAll('00000000-0000-0000-0000-000000000000', agent.token)
      .replaceAll('127.0.0.1:28903', `127.0.0.1:${port.Value}`)
      .replaceAll('d49e26c2', ID.slice(0, 8))
      // Until Ctrl-C.
      .replaceAll('alloc logs -f', 'alloc logs')
      // It would be written into the checkout.
      .replaceAll('job init ', 'job init "$TMPDIR/example.hcl" ');
}

test('the first page of the documentation starts as the README does', () => {
  const first = readFileSync(join(checkout, 'docs/README.md'), 'utf8');
  expect(blocksOf(first).map(({ text }) => text)).toEqual(blocks('Start'));
});

test('its tour does what it says', { timeout: 180_000 }, async () => {
  const agent = await startAgent({
    dataDirectory: newDirectory('data'),
    args: ['--run', join(checkout, 'examples/web.json')],
  });
  const directory = newDirectory('blocks');
  const env = { PATH: process.env.PATH!, HOME: directory, TMPDIR: temporary, LANG: 'C.UTF-8' };
  const shell = openShell({ cwd: checkout, env, directory });
  const change = await differs(agent);
  let planId = '';
  try {
    for (const block of [...blocks('A first session'), ...blocks('Plans')]) {
      for (const line of block.trim().split('\n')) {
        const command = ending(change(line).replaceAll(planInReadme, planId));
        const { exitCode, output } = await shell.run(`${command}\n`);
        expect([command, exitCode, exitCode === 0 ? '' : output]).toEqual([command, 0, '']);
        planId = /^Plan ID +(\S+)$/m.exec(output)?.[1] ?? planId;
      }
    }
  } finally {
    await shell.close();
  }
});
