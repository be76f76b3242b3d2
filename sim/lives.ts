/** Runs lives in this process, or in several child processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Mistake } from './mistakes/mistake.ts';
import { plant } from './mistakes/plant.ts';
import type { Outcome, SimulationOptions } from './simulation.ts';

export interface Lives {
  /** The caller runs at most one life per process at a time. */
  readonly simulate: (options: SimulationOptions) => Promise<Outcome>;
  readonly end: () => void;
}

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));

export function beginLives(processes: number, mistake: Mistake | undefined): Lives {
  return processes === 1 ? livesHere(mistake) : livesElsewhere(processes, mistake);
}

/** The product is imported only after the mistake was planted in it. */
function livesHere(mistake: Mistake | undefined): Lives {
  if (mistake !== undefined) plant(mistake);
  return {
    simulate: async (options) => (await import('./simulation.ts')).simulate(options),
    end() {},
  };
}

function livesElsewhere(processes: number, mistake: Mistake | undefined): Lives {
  const words = mistake === undefined ? [] : [mistake.name];
  const all = Array.from({ length: processes }, () => fork(worker, words));
  const idle = [...all];
  return {
    async simulate({ job: _job, progress: _progress, trace: _trace, ...options }) {
      const child = idle.pop()!;
      const outcome = await answerOf(child, options);
      idle.push(child);
      return outcome;
    },
    end() {
      for (const child of all) child.disconnect();
    },
  };
}

const answerOf = (child: ChildProcess, question: object): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a process ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (answer) => {
      child.off('exit', ended);
      resolve(answer as Outcome);
    });
    child.send(question);
  });
