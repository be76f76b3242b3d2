import type { Template } from '../../../model/task/files.ts';

export interface Reaction {
  readonly restarts: boolean;
  /** Without duplicates. */
  readonly signals: readonly string[];
  readonly scripts: readonly NonNullable<Template['ChangeScript']>[];
}

/** One restart replaces all signals and scripts. */
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
