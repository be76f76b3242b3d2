/**
 * Before the kernel moves a process to another control group, it waits until every processor has seen that moves are
 * under way (a grace period of RCU): ten milliseconds and more. Moves that follow within some milliseconds do not wait
 * again. So this wait may begin while a task is still being prepared.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CgroupLayout } from './layout.ts';

export class GroupMoves {
  /** The list of processes of the group in which this process is; `undefined`: it cannot be found. */
  readonly #own: string | undefined;
  /** The groups of this process, by which a later move of it shows. */
  readonly #groups = readText(groupsFile);
  #isWaiting = false;

  constructor({ unified, separate }: CgroupLayout) {
    const v2 = unified && candidates(unified.directory, groupIn(this.#groups, ''));
    const pids = separate.get('pids');
    const v1 = pids === undefined ? [] : candidates(pids, groupIn(this.#groups, 'pids'));
    this.#own = [...(v2 ?? []), ...v1].find(hasThisProcess);
  }

  /** Begins the wait for moves that follow. Returns at once. */
  expect(): void {
    if (this.#own === undefined || this.#isWaiting) return;
    if (readText(groupsFile) !== this.#groups) return;
    this.#isWaiting = true;
    // This process moves to where it is, which changes nothing.
    void writeFile(this.#own, '0')
      .catch(() => {})
      .finally(() => {
        this.#isWaiting = false;
      });
  }
}

const groupsFile = '/proc/self/cgroup';

/** The path of the group of a controller; of version 2 if the controller is empty. */
const groupIn = (groups: string, controller: string): string =>
  groups
    .split('\n')
    .map((line) => line.split(':'))
    .find(([, controllers = '']) => controllers.split(',').includes(controller))
    ?.slice(2)
    .join(':') ?? '/';

/** In a container without a namespace of groups, the mounted tree begins at its own group. */
const candidates = (tree: string, group: string): readonly string[] =>
  [join(tree, group), tree].map((directory) => join(directory, 'cgroup.procs'));

const hasThisProcess = (file: string): boolean =>
  readText(file).split('\n').includes(String(process.pid));

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
