/** The place of the shown page, its acts, and how to do the same elsewhere. */
import type { Component } from 'svelte';
import { live } from './connection.svelte.ts';
import type { Decision } from './permissions.svelte.ts';

export interface Crumb {
  readonly title: string;
  readonly href?: string | undefined;
}

export interface Act {
  readonly title: string;
  readonly run?: (() => void) | undefined;
  readonly href?: string | undefined;
  /** From `may(…)`. A refused act is shown, cannot be done, and names the missing permission. */
  readonly may?: Decision | undefined;
  /** Why the act makes no sense now, such as stopping a stopped job. */
  readonly unless?: string | undefined;
  readonly icon?: Component | undefined;
  readonly tone?: 'primary' | 'danger' | undefined;
  /** In the menu "More" instead of as a button of its own. */
  readonly isRare?: boolean | undefined;
}

/** Why the act is not possible; `undefined`: it is. */
export function hindranceOf({ may, unless }: Pick<Act, 'may' | 'unless'>): string | undefined {
  if (may !== undefined && !may.isAllowed) {
    if (may.missing !== '') return `Needs ${may.missing}`;
    return live().state.leaderlessMs === undefined
      ? 'Asking whether the token may do this …'
      : 'No server leads, so nobody can tell whether the token may do this';
  }
  return unless;
}

interface ShownPage {
  readonly title: string;
  readonly crumbs: readonly Crumb[];
  readonly acts: readonly Act[];
}

let shown = $state.raw<ShownPage>({ title: '', crumbs: [], acts: [] });

export const page = {
  get title(): string {
    return shown.title;
  },
  get crumbs(): readonly Crumb[] {
    return shown.crumbs;
  },
  get acts(): readonly Act[] {
    return shown.acts;
  },
  show(next: ShownPage): void {
    shown = next;
  },
};
