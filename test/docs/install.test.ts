/**
 * The files of a release: each is made by `npm run release`, and installed, used and removed by the commands of
 * docs/operations/install.md. `npm test` takes one of them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Need, needing, root as rootUser } from '../../src/base/not-run.test-helper.ts';
import { Podman } from '../../src/node/drivers/docker/podman.test-helper.ts';
import { eventually } from '../../src/node/eventually.test-helper.ts';
import { nodeFlags } from '../../tools/release/executable.ts';
import { parts } from '../../tools/release/release.ts';
import { drawn } from '../support/draw.ts';
import { commandsOf, scriptOf } from './section.ts';

const page = 'docs/operations/install.md';
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'roster-release-'));

/** Makes parts of a release, as `npm run release` does. */
function release(out: string, ...parts: readonly string[]): void {
  const words = ['tools/run.mjs', 'tools/release/main.ts', '--out', out, '--only', parts.join(',')];
  run('node', words, { cwd: root });
}

/** Returns the output of a program, errors included. */
function run(program: string, words: readonly string[], options: { readonly cwd: string }): string {
  const ran = spawnSync(program, words, { ...options, encoding: 'utf8' });
  const output = `${ran.stdout}${ran.stderr}`;
  expect([program, ran.status, ran.status === 0 ? '' : output]).toEqual([program, 0, '']);
  return output;
}

/** The commands that a reader has and a test has not. */
const reader = `
exec 2>&1
sudo() { "$@"; }
apt() {
  case $1 in
    install) dpkg --install "$2" ;;
    purge) dpkg --purge "$2" ;;
  esac
}
mkdir /home/reader && cd /home/reader && ln -s /mnt/release release
`;

/** Where a mistake of the guide harms nobody: the files of this machine until they are changed, and no network. */
const machine = [
  '--privileged',
  '--network=none',
  '--systemd=always',
  '--tmpfs=/tmp:notmpcopyup',
  '--tmpfs=/run:notmpcopyup',
  '--tmpfs=/home:notmpcopyup',
  '--rootfs',
  '/:O',
];

interface Way {
  /** The part of the release that the commands install. */
  readonly part: string;
  readonly commands: string;
  /** Whether systemd runs. */
  readonly usesSystemd?: boolean;
}

/** Runs commands on a copy of this machine. Returns the output. */
async function ranOnMachine({ part, commands, usesSystemd = false }: Way): Promise<string> {
  const place = mkdtempSync(join(folder, 'machine-'));
  release(join(place, 'release'), part);
  writeFileSync(join(place, 'script'), `${reader}${commands}`);
  const [run, script] = [
    ['run', `--volume=${place}:/mnt`],
    // A test that waits for it cannot end it.
    ['timeout', '300', 'bash', '/mnt/script'],
  ];
  const podman = new Podman();
  try {
    if (!usesSystemd) return podman.run(...run, ...machine, ...script);
    const id = podman.run(...run, '-d', ...machine, '/lib/systemd/systemd').trim();
    await eventually(() => podman.run('exec', id, 'systemctl', 'start', 'basic.target'));
    return podman.run('exec', id, ...script);
  } catch (error) {
    throw new Error(`the commands failed after:\n${(error as { stdout?: string }).stdout}`, {
      cause: error,
    });
  } finally {
    await podman.close();
  }
}

const systemd: Need = {
  isMet: existsSync('/lib/systemd/systemd'),
  otherwise: 'they need systemd, which need not run',
};

const lintian: Need = {
  isMet: spawnSync('lintian', ['--version']).status === 0,
  otherwise: "they need lintian, Debian's checker of packages",
};

const gone = 'hash -r; if type -P roster; then exit 1; fi\n';

/** The executable without any other file or variable, with a reader thread, and a terminal in a task. */
const alone = `
cd "$(mktemp -d)"
cp /mnt/release/roster-*-executable roster
mkfifo out
env -i ./roster agent --dev --readers 1 --http 127.0.0.1:4721 --root-token "$ROSTER_TOKEN" > out &
sed '/^Ctrl-C/q' < out
export ROSTER_ADDR=http://127.0.0.1:4721
./roster job init
./roster job run example.hcl
curl -s http://127.0.0.1:4721/ui/
script -qec './roster alloc exec -t -job example /bin/stty size' /dev/null
`;

const shortWatchdogs = `
apt install release/roster_*.deb
for unit in roster roster-server; do
  mkdir -p /etc/systemd/system/$unit.service.d
  printf '[Service]\\nWatchdogSec=4s\\n' > /etc/systemd/system/$unit.service.d/watchdog.conf
done
systemctl daemon-reload
`;

/** Systemd hears of the agent three times, which then hangs, and starts it again. Tells why the agent was ended. */
const hangs = (unit: string) => `
systemctl start ${unit}
told() { systemctl show -P "$1" ${unit}; }
pid=$(told MainPID)
for time in 1 2 3; do
  heard=$(told WatchdogTimestampMonotonic)
  until test "$(told WatchdogTimestampMonotonic)" != "$heard"; do :; done
done
test "$(told MainPID)" = "$pid"
kill -STOP "$pid"
until test "$(told NRestarts)" = 1; do :; done
journalctl --sync
journalctl --unit ${unit} --grep "Failed with result 'watchdog'"
systemctl stop ${unit}
`;

/** Of the web interface. */
const title = '<title>Roster</title>';

interface Row {
  readonly name: string;
  readonly needs?: readonly Need[];
  readonly check: () => Promise<void> | void;
}

const rows: readonly Row[] = [
  {
    name: 'the Debian package',
    needs: [systemd],
    async check() {
      const more = `${gone}test ! -e /etc/roster/agent.hcl\ntest ! -e /usr/lib/roster\nid roster\n`;
      const commands = scriptOf(page, 'Debian package') + more;
      const output = await ranOnMachine({ part: 'deb', commands, usesSystemd: true });
      expect(output).toMatch(/hello\.hello\[0\] .* running /);
      expect(output).toContain(title);
      expect(output).toContain('Nothing of it runs any more.');
      expect(output).toContain('The state in /var/lib/roster is kept');
    },
  },
  {
    name: 'the units of the Debian package, whose agents hang',
    needs: [systemd],
    async check() {
      const commands = `${shortWatchdogs}${hangs('roster')}${hangs('roster-server')}`;
      const output = await ranOnMachine({ part: 'deb', commands, usesSystemd: true });
      expect(output).toContain("roster.service: Failed with result 'watchdog'");
      expect(output).toContain("roster-server.service: Failed with result 'watchdog'");
    },
  },
  {
    name: 'the Debian package, in the eyes of lintian',
    needs: [lintian],
    check() {
      const out = join(folder, 'lintian');
      release(out, 'deb');
      const [file] = readdirSync(out).filter((name) => name.endsWith('.deb'));
      const words = ['--fail-on', 'error,warning', '--allow-root', join(out, file!)];
      expect(run('lintian', words, { cwd: out })).toBe('');
    },
  },
  {
    name: 'the archive',
    async check() {
      const commands = scriptOf(page, 'Archive') + gone;
      const output = await ranOnMachine({ part: 'archive', commands });
      expect(output.match(/ running /g)).toHaveLength(2);
      expect(output).toContain(title);
    },
  },
  {
    name: 'the executable',
    async check() {
      const commands = scriptOf(page, 'Executable') + gone + alone;
      const output = await ranOnMachine({ part: 'executable', commands });
      expect(output.match(/ running /g)).toHaveLength(4);
      // The second is that of a reader.
      expect(output.split(title)).toHaveLength(3);
      expect(output).toMatch(/^24 80\r?$/m);
    },
  },
  { name: 'the image', check: checkImage },
  { name: 'the same bytes again', check: checkTwice },
];

/** Every command of the section, with Podman's files in a folder of their own, and without a network. */
async function checkImage(): Promise<void> {
  const out = join(folder, 'image');
  release(out, 'image');
  const podman = new Podman();
  try {
    let told = '';
    for (const command of commandsOf(page, 'Container image')) {
      const changed = command
        .replace('release/', `${out}/`)
        .replace(' -p 4720:4720', '')
        .replace(' run -d ', ' run -d --network none ');
      const [program, ...words] = changed.split(' ');
      expect(program).toBe('podman');
      const output = podman.run(...words);
      told += output;
      if (!command.includes(' run -d ')) continue;
      const logs = () => podman.run('logs', output.trim());
      await eventually(() => expect(logs()).toContain('Roster is ready'));
    }
    expect(told.match(/ running /g)).toHaveLength(2);
    expect(told).toContain(title);
  } finally {
    await podman.close();
  }
}

function checkTwice(): void {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  for (const out of [first, second]) release(out, ...parts);
  const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8');
  expect(sums.match(/\n/g)).toHaveLength(parts.length);
  expect(readFileSync(join(second, 'SHA256SUMS'), 'utf8')).toBe(sums);
  const [check = ''] = commandsOf(page, 'Check what you have');
  const told = run('bash', ['-e', '-c', check.replace('release', second)], { cwd: second });
  expect(told.match(/: OK\n/g)).toHaveLength(parts.length);
}

for (const { name, needs = [], check } of drawn(rows)) {
  test(name, { ...needing(rootUser, ...needs), timeout: 400_000 }, check);
}

test('the executable has the flags of the command', () => {
  const command = readFileSync(join(root, 'bin/roster'), 'utf8');
  for (const flag of nodeFlags) expect(command).toContain(flag);
});
