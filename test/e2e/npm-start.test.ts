/** `npm start` in the checkout, a new user's first command. */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  checkout,
  endAgents,
  eventually,
  launch,
  newDirectory,
  processesWith,
} from '../support/agent.ts';

afterAll(endAgents);

const dataDirectory = newDirectory();

async function start() {
  const program = launch('npm', ['start'], {
    env: { ROSTER_HTTP: '127.0.0.1:0', ROSTER_DATA_DIR: dataDirectory },
    isGroup: true,
  });
  const [, address] = await program.says(/Roster is ready at (\S+)\n/);
  const [welcome, token] = await program.says(/Root token {2}(\S+)\n[\s\S]*Ctrl-C ends it\.\n/);
  const instances = [...program.said().stdout.matchAll(/^ {2}web\.web.* http=(\S+)$/gm)];
  const addresses = instances.map(([, where]) => where!);
  return { program, welcome, addresses, env: variables(address!, token!) };
}

const variables = (ROSTER_ADDR: string, ROSTER_TOKEN: string) => ({ ROSTER_ADDR, ROSTER_TOKEN });

const greet = (address: string) =>
  eventually(async () => (await fetch(`http://${address}`)).text());

const all = [0, 1, 2].map((index) => `Hello from web.web[${index}]\n`);

test('npm start runs the example job, Ctrl-C leaves nothing behind, and it works again', async () => {
  const first = await start();
  expect((await Promise.all(first.addresses.map(greet))).sort()).toEqual(all);
  // The suggested next commands are run as printed.
  const { ROSTER_ADDR, ROSTER_TOKEN } = first.env;
  expect(first.welcome).toContain(
    `\n  export ROSTER_ADDR=${ROSTER_ADDR} ROSTER_TOKEN=${ROSTER_TOKEN}\n`,
  );
  // The link signs in once, to a token that is not the root token.
  const [, link] = /^Sign in {5}(\S+) /m.exec(first.program.said().stdout)!;
  expect(link).toMatch(`${ROSTER_ADDR}/ui/sign-in#link=`);
  const body = JSON.stringify({ Secret: link!.split('=').at(-1) });
  const signIn = (headers = {}) =>
    fetch(`${ROSTER_ADDR}/v1/ui/sign-in`, { method: 'POST', headers, body });
  // It is for this machine alone.
  expect((await signIn({ 'x-forwarded-for': '192.0.2.1' })).status).toBe(403);
  const token = (await (await signIn()).json()) as { SecretID: string; Description: string };
  expect(token.Description).toMatch(/^web interface, link of /);
  expect(token.SecretID).not.toBe(ROSTER_TOKEN);
  expect((await signIn()).status).toBe(403);
  const proposed = [...first.welcome.matchAll(/^ {2}(bin\/roster .*)$/gm)].map(([, line]) => line!);
  expect(proposed).toContain('bin/roster job status web');
  for (const line of proposed) {
    const [file, ...words] = line.split(' ');
    const { code, stderr } = await launch(join(checkout, file!), words, { env: first.env }).ended;
    expect([line, code, stderr]).toEqual([line, 0, '']);
  }
  first.program.signal('SIGINT');
  const { code, stdout, stderr } = await first.program.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining('Roster ends (SIGINT)')]);
  expect(stderr).not.toMatch(/ {4}at /);
  expect(processesWith(dataDirectory)).toEqual([]);

  const second = await start();
  expect(second.env.ROSTER_TOKEN).toBe(ROSTER_TOKEN);
  expect((await Promise.all(second.addresses.map(greet))).sort()).toEqual(all);
  // A closed terminal sends this signal.
  second.program.signal('SIGHUP');
  await second.program.ended;
  expect(processesWith(dataDirectory)).toEqual([]);
});
