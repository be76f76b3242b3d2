import type { Template } from '../../../model/task/files.ts';

/** What is done with a running task because some of its files changed. */
export interface Reaction {
  readonly restarts: boolean;
  /** Each once. */
  readonly signals: readonly string[];
  readonly scripts: readonly NonNullable<Template['ChangeScript']>[];
}

/** One restart serves all, and makes signals and scripts needless. */
export function reactionTo(changed: readonly Template[]): Reaction {
  const of = (mode: Template['ChangeMode']): readonly Template[] =>
    changed.filter(({ ChangeMode }) => ChangeMode === mode);
  if (of('restart').length > 0) return { restarts: true, signals: [], scripts: [] };
  return {
    restarts: false,
    signals: [...new Set(of('signal').map(({ ChangeSignal }) => ChangeSignal || 'SIGHUP'))],
    scripts: of('script').flatMap(({ ChangeScript }) => ChangeScript ?? []),
  };
}
