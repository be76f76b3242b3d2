// @ts-check
// The programs that the tests and benchmarks run and npm cannot bring.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run, say } from './setup.mjs';

/**
 * @typedef {object} Program
 * @property {string} name as it is on the PATH
 * @property {string} package Debian's name of the package that has it
 * @property {string} why what needs it
 * @property {true} [hasService] the package starts a service, which no test needs
 */

/** @type {readonly Program[]} */
export const testPrograms = [
  { name: 'sh', package: 'dash', why: 'bin/roster and the tasks of many tests' },
  { name: 'mkfifo', package: 'coreutils', why: 'the pipes that tasks write to' },
  { name: 'sleep', package: 'coreutils', why: 'tasks that run until they are stopped' },
  { name: 'git', package: 'git', why: 'artifacts out of a repository' },
  { name: 'xz', package: 'xz-utils', why: 'artifacts that are packed' },
  { name: 'bzip2', package: 'bzip2', why: 'artifacts that are packed' },
  { name: 'zstd', package: 'zstd', why: 'artifacts that are packed' },
  { name: 'zip', package: 'zip', why: 'artifacts that are packed' },
  { name: 'python3', package: 'python3', why: 'archives that no program packs' },
  { name: 'perl', package: 'perl-base', why: 'system calls that tasks try' },
  { name: 'curl', package: 'curl', why: 'requests that guides and tasks make' },
  { name: 'nsenter', package: 'util-linux', why: 'commands beside isolated tasks' },
  { name: 'setpriv', package: 'util-linux', why: 'isolated tasks' },
  { name: 'bwrap', package: 'bubblewrap', why: 'isolated tasks' },
  { name: 'javac', package: 'default-jdk-headless', why: 'tasks in Java' },
  { name: 'podman', package: 'podman', why: 'tasks in containers' },
  { name: 'runc', package: 'runc', why: 'tasks in containers' },
  { name: 'cc', package: 'build-essential', why: 'power cuts, in a library of C' },
  { name: 'lintian', package: 'lintian', why: 'the check of the Debian package' },
  { name: 'faketime', package: 'faketime', why: 'servers with clocks of their own' },
  { name: 'chromium', package: 'chromium', why: 'logins in a browser' },
  {
    name: 'prometheus',
    package: 'prometheus',
    why: 'the queries of the dashboard',
    hasService: true,
  },
  { name: 'promtool', package: 'prometheus', why: 'the rules of alerts', hasService: true },
];

/** Options of apt-get that leave out the services of a package: a machine runs none because its tests have run. */
const withoutServices = [
  '--no-install-recommends',
  ...[
    '/lib/systemd/system/*.service',
    '/usr/lib/systemd/system/*.service',
    '/etc/init.d/*',
  ].flatMap((path) => ['-o', `Dpkg::Options::=--path-exclude=${path}`]),
];

/**
 * @param {readonly Program[]} wanted
 * @param {string} path a PATH
 * @returns {Program[]}
 */
export function missingPrograms(wanted, path) {
  return wanted.filter(
    (program) => !path.split(delimiter).some((folder) => isExecutable(join(folder, program.name))),
  );
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * What to do about programs that are missing: nothing, an installation, or a word to the user.
 *
 * @param {readonly Program[]} missing
 * @param {{ who: string, isRoot: boolean, hasApt: boolean }} machine `who` needs them
 * @returns {{ install: string[], withoutServices: string[] } | { refuse: string } | undefined}
 */
export function remedy(missing, machine) {
  if (missing.length === 0) return undefined;
  /** @param {readonly Program[]} of */
  const packagesOf = (of) => [...new Set(of.map((program) => program.package))];
  if (machine.isRoot && machine.hasApt) {
    const [install, withoutServices] = [false, true].map((has) =>
      packagesOf(missing.filter(({ hasService = false }) => hasService === has)),
    );
    return { install: install ?? [], withoutServices: withoutServices ?? [] };
  }
  const lines = missing.map(({ name, why }) => `  ${name}: ${why}`);
  return {
    refuse:
      `${machine.who} need programs that this machine does not have:\n${lines.join('\n')}\n` +
      `On Debian: sudo apt-get install ${packagesOf(missing).join(' ')}`,
  };
}

/**
 * Gets the missing programs as root, or ends the process with a word on how to get them.
 *
 * @param {readonly Program[]} wanted
 * @param {string} who needs them, such as "The tests"
 */
export async function ensurePrograms(wanted, who) {
  const path = process.env.PATH ?? '';
  const apt = [{ name: 'apt-get', package: 'apt', why: '' }];
  const plan = remedy(missingPrograms(wanted, path), {
    who,
    isRoot: process.getuid?.() === 0,
    hasApt: missingPrograms(apt, path).length === 0,
  });
  if (plan === undefined) return;
  if ('refuse' in plan) {
    say(plan.refuse);
    process.exit(1);
  }
  say(`Installing ${[...plan.install, ...plan.withoutServices].join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  /** @param {...string} words */
  const install = (...words) => run('apt-get', ['install', '-y', '-qq', ...words], { env });
  let ended = await run('apt-get', ['update', '-qq'], { env });
  if (ended === 0 && plan.install.length > 0) ended = await install(...plan.install);
  if (ended === 0 && plan.withoutServices.length > 0) {
    ended = await install(...withoutServices, ...plan.withoutServices);
  }
  if (ended !== 0) {
    say(`apt-get failed with exit code ${ended}; nothing was run.`);
    process.exit(ended);
  }
}
