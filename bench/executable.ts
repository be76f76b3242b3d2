import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeRelease } from '../tools/release/release.ts';
import { sourceOf } from '../tools/release/source.ts';
import { checkout, startAgent, temporaryFolder } from './agent.ts';
import { alternate, type Benchmark, type Setting } from './benchmark.ts';
import { usedMs } from './processes.ts';
import { call } from './target.ts';

export const executable: Benchmark = {
  name: 'executable',
  title: 'Start of the single executable file',
  baseline: 'the same program unpacked, from the archive of the release',
  takesGiven: false,
  async run(setting) {
    const folder = temporaryFolder();
    try {
      setting.progress('making the files of the release');
      const commands = await madeCommands(folder.path);
      const results = await startsOf(setting, commands, folder.path);
      return {
        figures: [
          {
            name: 'processor time of a start, to the first 200',
            unit: 'ms',
            ours: results.ours,
            baseline: results.baseline,
            target: { of: 'ratio', is: 'at most', value: 1.3 },
          },
        ],
        notes: [
          'Both agents have a data directory and a node, and a start before the first that is measured.',
        ],
      };
    } finally {
      await folder.remove();
    }
  },
};

interface Commands {
  readonly file: string;
  readonly unpacked: string;
}

/** The files of a release: the executable, and the command of the archive. */
async function madeCommands(folder: string): Promise<Commands> {
  const [out, unpacked] = [join(folder, 'release'), join(folder, 'unpacked')];
  await makeRelease(sourceOf(checkout), { out, only: ['archive', 'executable'] });
  const named = (end: string) => join(out, readdirSync(out).find((name) => name.endsWith(end))!);
  mkdirSync(unpacked);
  const words = ['-C', unpacked, '--strip-components=1', '-xzf', named('.tar.gz')];
  execFileSync('tar', words);
  return { file: named('-executable'), unpacked: join(unpacked, 'bin/roster') };
}

/** Processor time of each start. */
async function startsOf(setting: Setting, { file, unpacked }: Commands, folder: string) {
  let starts = 0;
  const startOf = async (command: string): Promise<number> => {
    const dataDirectory = join(folder, `data-${starts++}`);
    const agent = await startAgent({ command, dataDirectory });
    await call(agent.target, 'GET', '/v1/agent/health');
    const took = usedMs(agent.pid);
    await agent.stop();
    return took;
  };
  // The first start of each keeps its compiled code, where it can.
  await startOf(file);
  await startOf(unpacked);
  return alternate(
    setting,
    () => startOf(file),
    () => startOf(unpacked),
  );
}
