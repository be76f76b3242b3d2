/** Checks a draft while it is typed. */
import { live } from '../../app/connection.svelte.ts';
import { type Checked, check, type Written } from './check.ts';

/** Not in limits: a pause in typing. */
const pauseMs = 350;

export interface Checking {
  readonly checked: Checked | undefined;
  /** The result belongs to an earlier text. */
  readonly isBehind: boolean;
  /** The result for the text as it is now. */
  now(): Promise<Checked>;
}

export function checking(written: () => Written): Checking {
  let checked = $state.raw<Checked | undefined>();
  let of = $state.raw('');
  const key = $derived(JSON.stringify(written()));
  let running: { readonly key: string; readonly result: Promise<Checked> } | undefined;

  function run(): Promise<Checked> {
    const asked = key;
    if (running?.key === asked) return running.result;
    const result = check(written()).then((answer) => {
      if (asked === key) {
        checked = answer;
        of = asked;
      }
      // A server that was away is asked again.
      if (answer.problem !== undefined && running?.key === asked) running = undefined;
      return answer;
    });
    running = { key: asked, result };
    return result;
  }

  $effect(() => {
    void key;
    if (live().state.kind !== 'open') return;
    const timer = setTimeout(() => void run(), checked === undefined ? 0 : pauseMs);
    return () => clearTimeout(timer);
  });

  return {
    get checked() {
      return checked;
    },
    get isBehind() {
      return of !== key;
    },
    now: run,
  };
}
