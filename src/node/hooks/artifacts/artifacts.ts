/**
 * Fetches the artifacts of a task before its first run.
 * Source: docs/behaviour/job-specification.md#artifacts.
 *
 * Invariants
 *  F1. An artifact is fetched, verified and unpacked beside the task's directory, out of reach of
 *      tasks, and only then moved to its place: a failed artifact leaves nothing behind.
 *  F2. An artifact in its place is not fetched again, whatever happens to the task or the agent.
 *      Artifacts in directories that may be in memory are fetched again by the next agent, as a
 *      boot may have removed them.
 *  F3. Artifacts move to their places in the job's order, so that the later of two with the same
 *      name wins. They are fetched in parallel, within a bound for the node.
 *  F4. No message contains a header, an option, a query or a password.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { limits } from '../../../model/limits.ts';
import type { Artifact } from '../../../model/task/files.ts';
import type { Defences } from '../../defences.ts';
import { interpolateDeep } from '../../environment/interpolate.ts';
import { readJson, replaceFile } from '../../files.ts';
import * as events from '../../task-runner/events.ts';
import { HookFailure, type TaskHookContext, type TaskHookFactory } from '../hook.ts';
import { failureOf } from './failure.ts';
import type { Fetched } from './fetch-artifact.ts';
import { land, maybeInMemory } from './landing.ts';
import { Lanes } from './lanes.ts';
import { type ArtifactSettings, artifactDefaults } from './settings.ts';
import { parseSource } from './source.ts';

/** The hook of all tasks of a node, which share a bound on parallel work. */
export function artifactsHook(
  given: Partial<ArtifactSettings> = {},
  defences?: Defences,
): TaskHookFactory {
  const settings = { ...artifactDefaults, ...given };
  const shared = { settings, defences, lanes: new Lanes(limits.artifact.parallelMax) };
  return (context) => {
    if ((context.task().Artifacts ?? []).length === 0) return undefined;
    let working: Promise<unknown> = Promise.resolve();
    const passing = new Set<string>();
    return {
      name: 'artifacts',
      async beforeStart() {
        // An earlier attempt may still be cleaning up.
        const work = working.catch(() => {}).then(() => fetchAll(context, shared, passing));
        working = work;
        await work;
        return undefined;
      },
      async close() {
        await working.catch(() => {});
      },
    };
  };
}

interface Shared {
  readonly settings: ArtifactSettings;
  readonly lanes: Lanes;
  readonly defences: Defences | undefined;
}

/** `passing`: artifacts that are in their places as long as this agent runs. */
async function fetchAll(
  context: TaskHookContext,
  { settings, lanes, defences }: Shared,
  passing: Set<string>,
): Promise<void> {
  const { directories, task, environment, note, over: signal } = context;
  const { lookup } = environment();
  const artifacts = interpolateDeep(task().Artifacts ?? [], lookup) as readonly Artifact[];
  const kept = keptPath(context);
  const lasting = new Set(await readKept(kept));
  const missing = artifacts
    .map((artifact, index) => ({ artifact, index, key: keyOf(artifact, index) }))
    .filter(({ key }) => !lasting.has(key) && !passing.has(key));
  if (missing.length === 0) return;
  note(events.downloadingArtifacts);
  const { fetchArtifact } = await import('./fetch-artifact.ts');
  const staging = stagingPath(context);
  try {
    // An agent that was killed meanwhile may have left files.
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging, { mode: 0o700 });
    const fetched = await fetchMissing(missing, {
      signal,
      fetch: async ({ artifact, index }, stop) => {
        const directory = join(staging, String(index));
        return lanes.through(stop, async () => {
          await mkdir(directory);
          const owner = artifact.Chown ? context.owner() : undefined;
          const { timers } = context.world;
          return fetchArtifact({
            artifact,
            directories,
            directory,
            owner,
            settings,
            timers,
            signal: stop,
          });
        });
      },
    });
    for (const [at, { staged, destination }] of fetched.entries()) {
      if (signal.aborted) return;
      const { artifact, key } = missing[at]!;
      const owner = artifact.Chown ? context.owner() : undefined;
      await told(artifact, () => land(staged, destination, owner, defences));
      if (maybeInMemory(destination, directories)) {
        passing.add(key);
        continue;
      }
      lasting.add(key);
      await replaceFile(kept, JSON.stringify([...lasting]));
    }
  } finally {
    await rm(staging, { recursive: true, force: true }).catch(() => {});
  }
}

interface Missing {
  readonly artifact: Artifact;
  readonly index: number;
  readonly key: string;
}

/** Fetches all. The first failure ends the others, and so does the end of the task. */
async function fetchMissing(
  missing: readonly Missing[],
  work: {
    readonly signal: AbortSignal;
    readonly fetch: (one: Missing, stop: AbortSignal) => Promise<Fetched>;
  },
): Promise<readonly Fetched[]> {
  const failed = new AbortController();
  const stop = AbortSignal.any([work.signal, failed.signal]);
  const fetches = missing.map((one) =>
    told(one.artifact, () => work.fetch(one, stop)).catch((error: Error) => {
      if (!stop.aborted) failed.abort(error);
      throw error;
    }),
  );
  const settled = await Promise.allSettled(fetches);
  if (failed.signal.aborted) throw failed.signal.reason;
  return settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

/** F4. */
async function told<T>(artifact: Artifact, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { message, mayPass } = failureOf(error);
    const sentence = `failed to fetch ${nameOf(artifact)}: ${message}`;
    throw new HookFailure(events.failedArtifactDownload(sentence), sentence, mayPass);
  }
}

function nameOf({ GetterSource, GetterOptions }: Artifact): string {
  try {
    return `"${parseSource(GetterSource, GetterOptions ?? {}).shown}"`;
  } catch {
    return 'an artifact';
  }
}

/** A digest of the artifact's settings, which reveals no header. */
const keyOf = (artifact: Artifact, index: number): string =>
  createHash('sha256')
    .update(JSON.stringify([index, artifact]))
    .digest('hex');

/** A path beside the task's directory, out of reach of tasks. */
const besideTask = ({ directories }: TaskHookContext, name: string): string =>
  join(dirname(directories.root), `.${basename(directories.root)}.${name}`);

const stagingPath = (context: TaskHookContext): string => besideTask(context, 'artifacts');
const keptPath = (context: TaskHookContext): string => besideTask(context, 'artifacts.json');

async function readKept(path: string): Promise<readonly string[]> {
  // A damaged record counts as none, so its artifacts are fetched again.
  const value = await readJson(path).catch(() => undefined);
  return Array.isArray(value) ? value.filter((key) => typeof key === 'string') : [];
}
