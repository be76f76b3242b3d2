/** The messages of an agent to systemd, which it sends where a unit asks for them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Need, needing } from '../../src/base/not-run.test-helper.ts';
import {
  agentWords,
  checkout,
  endAgents,
  launch,
  newDirectory,
  command as roster,
} from '../support/agent.ts';
import { certificate, privateKey } from '../support/certificate.ts';

afterAll(endAgents);

const systemd: Need = {
  isMet: spawnSync('systemd-notify', ['--version']).status === 0,
  otherwise: 'they need the program systemd-notify',
};

/** The agent without its shell script, which needs a PATH. */
const program = ['--disable-warning=ExperimentalWarning', join(checkout, 'src/main.ts')];

/** Prints each message that it receives on a socket of datagrams, as one line. */
const receiver = `
import socket, sys
messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
messages.bind(sys.argv[1])
print('listens', flush=True)
while True:
    print(messages.recv(4096).decode().strip().replace('\\n', ' '), flush=True)
`;

test(
  'an agent tells systemd that it is ready, lives, reloads and ends',
  needing(systemd),
  async () => {
    const directory = newDirectory();
    const at = (name: string) => join(directory, name);
    writeFileSync(at('certificate.pem'), certificate);
    writeFileSync(at('key.pem'), privateKey);
    const systemd = launch('python3', ['-c', receiver, at('notify')]);
    await systemd.says(/^listens$/m);
    const tls = ['--tls-cert', at('certificate.pem'), '--tls-key', at('key.pem')];
    const env = { NOTIFY_SOCKET: at('notify'), WATCHDOG_USEC: '100000' };
    const agent = launch(roster, agentWords({ args: tls }), { env });
    const ready = 'READY=1 STATUS=Roster is ready at https://\\S+$';
    await systemd.says(new RegExp(`^${ready}`, 'm'));
    await systemd.says(/^WATCHDOG=1$/m);
    agent.signal('SIGHUP');
    const reloads = 'RELOADING=1 MONOTONIC_USEC=\\d+ STATUS=.+$';
    await systemd.says(new RegExp(`^${reloads}[^]*^${ready}`, 'm'));
    agent.signal('SIGTERM');
    await systemd.says(/^STOPPING=1 STATUS=Ends$/m);
    expect((await agent.ended).code).toBe(0);
    systemd.signal('SIGKILL');
    await systemd.ended;
  },
);

test('an agent without the program of systemd goes on, and says so', async () => {
  const env = { NOTIFY_SOCKET: '/nowhere', PATH: newDirectory('path') };
  const agent = launch(process.execPath, [...program, ...agentWords({})], { env });
  await agent.says(/Ctrl-C ends it/);
  agent.signal('SIGTERM');
  const { code, stderr } = await agent.ended;
  expect([code, stderr.match(/systemd could not be told/g)]).toEqual([
    0,
    ['systemd could not be told'],
  ]);
});
