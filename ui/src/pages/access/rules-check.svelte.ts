/** The faults of rules while they are typed, as the server tells them. Only the answer to the newest text counts. */
import { live } from '../../app/connection.svelte.ts';
import { problemOf } from '../../app/problems.ts';

/** Not in limits: the pause of a writer. */
const pauseMs = 350;

export class RulesCheck {
  fault = $state.raw<string | undefined>();
  lines = $state.raw<readonly number[]>([]);
  isChecking = $state(false);
  isFine = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round = 0;

  look(rules: string, place: { readonly namespace: string; readonly partition: string }): void {
    this.end();
    this.isFine = false;
    this.isChecking = true;
    this.#timer = setTimeout(() => void this.#askServer(rules, place), pauseMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#round += 1;
  }

  async #askServer(
    Rules: string,
    place: { readonly namespace: string; readonly partition: string },
  ): Promise<void> {
    const round = this.#round;
    try {
      await live().client.aclDecisions.tryPolicy({ Rules, Questions: [] }, place);
      if (round === this.#round) this.#tellFaults(undefined);
    } catch (error) {
      const { errors = [], status } = problemOf(error);
      if (round !== this.#round) return;
      const faults = errors.filter(({ pointer }) => pointer === '/Rules');
      // A writer who may not try rules hears of their faults when they are saved.
      this.#tellFaults(faults.length === 0 ? undefined : faults.map(({ message }) => message));
      if (status !== 400) this.isFine = false;
    }
  }

  #tellFaults(faults: readonly string[] | undefined): void {
    this.isChecking = false;
    this.isFine = faults === undefined;
    this.fault = faults?.join('\n');
    this.lines = (faults ?? []).flatMap((message) => {
      const line = /line (\d+)/.exec(message)?.[1];
      return line === undefined ? [] : [Number(line)];
    });
  }
}
