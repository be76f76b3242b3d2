import type { CliEnvironment } from '../environment.ts';
import { cliLimits } from '../limits.ts';
import { bytesText } from '../render/bytes.ts';

/** A line for each step; at a terminal with the bytes so far. */
export class Progress<Step extends string> {
  readonly #environment: Pick<CliEnvironment, 'stderr' | 'clock'>;
  readonly #sentences: Readonly<Record<Step, string>>;
  #step: Step | undefined;
  #shownMs = 0;

  constructor(
    environment: Pick<CliEnvironment, 'stderr' | 'clock'>,
    sentences: Readonly<Record<Step, string>>,
  ) {
    this.#environment = environment;
    this.#sentences = sentences;
  }

  show(step: Step, bytes: number): void {
    const { stderr, clock } = this.#environment;
    const nowMs = clock.monotonicMs();
    const sentence = this.#sentences[step];
    if (step !== this.#step) {
      this.end();
      this.#step = step;
      void stderr.write(stderr.isTerminal ? sentence : `${sentence}\n`);
    } else if (stderr.isTerminal && nowMs - this.#shownMs >= cliLimits.snapshot.progressMs) {
      this.#shownMs = nowMs;
      void stderr.write(`\r${sentence}: ${bytesText(bytes)} `);
    }
  }

  end(): void {
    const { stderr } = this.#environment;
    if (this.#step !== undefined && stderr.isTerminal) void stderr.write('\n');
    this.#step = undefined;
  }
}
