import { privateDirectory, taskDirectories, unfitPlace } from '../directories.ts';
import { interpolate } from '../environment/interpolate.ts';
import type { MemoryMount, MemoryMounts } from '../memory-mounts/mounts.ts';
import { findSystemUser } from '../system-user.ts';
import type { AllocationHookContext, AllocationHookFactory } from './hook.ts';

const sizeDefaultMb = 1;

/**
 * Keeps `secrets/` and `private/` of every task in memory, as long as the allocation lives.
 * Source: docs/behaviour/client.md#directories.
 */
export const memoryDirectoriesHook =
  (mounts: MemoryMounts): AllocationHookFactory =>
  (context) => ({
    name: 'memory-directories',
    async beforeStart() {
      const wanted: MemoryMount[] = [];
      for (const task of context.group().Tasks) {
        // A mount would hide the files of a running task.
        if (context.states()[task.Name]?.State === 'running') continue;
        // No run of this task will begin.
        if (unfitPlace('task', task.Name) !== undefined) continue;
        wanted.push(...(await mountsOf(context, task.Name)));
      }
      try {
        await mounts.mount(wanted);
      } catch (error) {
        const { message } = error as Error;
        throw new Error(`the directories of secrets could not be put into memory: ${message}`);
      }
    },
    async close({ isDone }) {
      if (!isDone) return;
      const { root } = context.directories;
      await mounts.unmount([root]).catch((error: Error) => {
        context.onNotice(
          `allocation ${context.id}: its secrets are still mounted: ${error.message}`,
        );
      });
    },
  });

async function mountsOf(
  { directories, environment, group, makeTaskDirectories }: AllocationHookContext,
  name: string,
): Promise<readonly MemoryMount[]> {
  const task = group().Tasks.find(({ Name }) => Name === name)!;
  const user = interpolate(task.User, environment(name).lookup);
  const paths = taskDirectories(directories, name);
  const owner = findSystemUser(user);
  const isNew = await makeTaskDirectories(name, owner);
  const sizeMb = task.Resources.SecretsMB || sizeDefaultMb;
  const { uid, gid } = owner ?? agentOwner;
  return [paths.secrets, privateDirectory(paths)].map((path) => ({
    path,
    sizeMb,
    uid,
    gid,
    isNew,
  }));
}

const agentOwner = { uid: 0, gid: 0 };
