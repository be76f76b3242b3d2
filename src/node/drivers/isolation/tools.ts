/** Finds out, by trying, whether tasks can be isolated on this machine, or why not. */
import { execFile } from 'node:child_process';
import { constants, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { allDefences, type Defences } from '../../defences.ts';
import { isolationProbeLimits } from '../../limits.ts';
import type { CgroupLayout } from '../../supervisor/cgroups/layout.ts';
import { capabilitiesIn } from './capabilities.ts';
import { namespaceOptions } from './isolate.ts';
import { allowancesOf, type IsolationSettings, type IsolationTools } from './settings.ts';
import { defaultHostView, type HostView, hostOptions, hostPath } from './view.ts';

export type FoundTools =
  | { readonly tools: IsolationTools; readonly version: string }
  /** A sentence that tells the operator what to do. */
  | { readonly reason: string };

export interface ToolsInput {
  readonly settings: IsolationSettings;
  readonly cgroups: CgroupLayout;
  /** The directories in which programs are looked for. */
  readonly path: string;
  readonly isRoot: boolean;
  readonly defences: Defences;
}

export async function findTools(input: ToolsInput): Promise<FoundTools> {
  const { settings, cgroups, path, isRoot, defences } = input;
  const view = settings.view ?? defaultHostView;
  const bubblewrap = await findProgram('bwrap', path);
  if (bubblewrap === undefined) {
    return {
      reason: 'bubblewrap is not installed: install the package that has the program bwrap',
    };
  }
  const setpriv = isRoot ? await findProgram('setpriv', path) : undefined;
  if (isRoot && setpriv === undefined) {
    return { reason: 'setpriv is not installed: install the package util-linux' };
  }
  const unseen = setpriv && (await whyUnseen(setpriv, view));
  if (unseen !== undefined) return { reason: unseen };
  const failure = await probe(bubblewrap, setpriv, view);
  if (failure !== undefined) return { reason: failure };
  // Commands that enter a sandbox need it inside, for the filter.
  const unseenInside = await whyUnseen(bubblewrap, view);
  if (unseenInside !== undefined) return { reason: unseenInside };
  const tools = {
    bubblewrap,
    setpriv,
    view,
    cgroups,
    defences,
    allowances: allowancesOf(settings),
    ownCapabilities: new Set(capabilitiesIn(ownStatus('CapEff'))),
  };
  const { text } = await run(bubblewrap, ['--version']);
  return { tools, version: /\d[\d.]*/.exec(text)?.[0] ?? '' };
}

const whyUnseen = async (program: string, view: HostView): Promise<string | undefined> =>
  (await isProgram(hostPath(view, undefined, program) ?? ''))
    ? undefined
    : `tasks would not see ${program}: make it and its libraries visible to them`;

const rootSandbox = { isRoot: true, hasOwnProcesses: true } as const;
/** Only trying shows whether user namespaces work. The supervisor maps the users later. */
const ownUsers = ['--unshare-user'];

/** Makes a sandbox like a task's. Resolves with the error, if any. */
async function probe(
  bubblewrap: string,
  setpriv: string | undefined,
  view: HostView,
): Promise<string | undefined> {
  const inside =
    setpriv === undefined
      ? ['--ro-bind', '/', '/', '--', bubblewrap, '--version']
      : [...ownUsers, ...hostOptions(view, rootSandbox), '--', setpriv, '--version'];
  const { ok, text } = await run(bubblewrap, [...namespaceOptions({}, allDefences), ...inside]);
  if (ok) return undefined;
  const said = text.trim().split('\n').at(-1) ?? '';
  const remedy =
    setpriv === undefined
      ? 'run the agent as root, or let users make namespaces of their own (user.max_user_namespaces)'
      : 'the agent needs the rights to make namespaces and mounts, which containers often lack';
  return `a sandbox cannot be made here (${said}): ${remedy}`;
}

interface Answer {
  readonly ok: boolean;
  readonly text: string;
}

/** Its output and error output. Never rejects. */
export function run(program: string, args: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    const options = {
      env: {},
      timeout: isolationProbeLimits.timeoutMs,
      killSignal: 'SIGKILL',
    } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      const text = `${stdout}${stderr}`;
      const timedOut =
        error?.killed === true ? `no answer within ${isolationProbeLimits.timeoutMs / 1000} s` : '';
      resolve({ ok: error === null, text: timedOut || text || (error?.message ?? '') });
    });
  });
}

export async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const place of path.split(':').filter(isAbsolute)) {
    if (await isProgram(join(place, name))) return join(place, name);
  }
  return undefined;
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

function ownStatus(field: string): string {
  const text = readFileSync('/proc/self/status', 'utf8');
  return new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? '0';
}
