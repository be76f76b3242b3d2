/**
 * What is typed on the page of a job's plan. It stays in this tab while other pages are shown, while the server is away,
 * and through another sign-in.
 */
import type { PlanRequest } from '../../../../src/contract/plan.ts';
import type { ShownPlan } from '../../../../src/model/kept-plan/shown-plan.ts';
import { ofTab } from '../../app/stored.ts';

interface Kept {
  readonly text: string;
  /** The text that the reader began with. */
  readonly start: string;
}

/** A plan that was made of the draft. */
export interface Made {
  readonly plan: ShownPlan;
  readonly request: PlanRequest;
  readonly text: string;
  readonly variables: string;
}

export interface Draft {
  text: string;
  /** Values of variables may be secrets, so they are not in the storage of the tab. */
  values: Record<string, string>;
  made: Made | undefined;
  readonly isBegun: boolean;
  readonly isChanged: boolean;
  begin(text: string): void;
  forget(): void;
}

const drafts = new Map<string, Draft>();

/** `source`: `namespace/job`, or empty for a new job. */
export function draftOf(source: string): Draft {
  const known = drafts.get(source);
  if (known !== undefined) return known;
  const draft = newDraft(`draft:${source}`);
  drafts.set(source, draft);
  return draft;
}

/** Whether something that was typed would be lost with the page. */
export const isAnyChanged = (): boolean => [...drafts.values()].some(({ isChanged }) => isChanged);

function newDraft(name: string): Draft {
  let kept = $state.raw<Kept | undefined>(keptIn(name));
  let values = $state<Record<string, string>>({});
  let made = $state.raw<Made | undefined>();
  const set = (next: Kept | undefined): void => {
    kept = next;
    const isWorthIt = next !== undefined && next.text !== next.start;
    ofTab.write(name, isWorthIt ? JSON.stringify(next) : undefined);
  };
  return {
    get text() {
      return kept?.text ?? '';
    },
    set text(text) {
      set({ start: kept?.start ?? '', text });
    },
    get values() {
      return values;
    },
    set values(next) {
      values = next;
    },
    get made() {
      return made;
    },
    set made(next) {
      made = next;
    },
    get isBegun() {
      return kept !== undefined;
    },
    get isChanged() {
      return kept !== undefined && kept.text !== kept.start;
    },
    begin: (text) => set({ text, start: text }),
    forget() {
      values = {};
      made = undefined;
      set(undefined);
    },
  };
}

function keptIn(name: string): Kept | undefined {
  const text = ofTab.read(name);
  return text === undefined ? undefined : (JSON.parse(text) as Kept);
}
