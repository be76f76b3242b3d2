/** The fields of a form, which keep what is typed until it is sent or thrown away (kept-forms.ts). */
import { untrack } from 'svelte';
import { keptForms } from './kept-forms.ts';
import { scope } from './scope.svelte.ts';
import { session } from './session.svelte.ts';

export interface Draft<T extends object = object> {
  /** The fields, to be bound. */
  readonly typed: T;
  /** The form has begun with what was typed before. */
  readonly isBack: boolean;
  readonly isChanged: boolean;
  /** A secret was typed, which a reload would lose. */
  readonly hasSecret: boolean;
  /** The version of the record that the reader saw while typing, for writes that must not undo another change. */
  readonly base: number;
  /** Begins with the values of the record. */
  restart(): void;
  /** It was sent, or is thrown away. */
  forget(): void;
}

/**
 * @param form the form and its record: `token/ID`
 * @param start the values without anything typed
 * @param secrets fields that no storage may hold
 * @param base the version of the record
 */
export function draft<T extends object>(
  form: string,
  start: T,
  {
    secrets = [],
    base = 0,
  }: { secrets?: readonly (keyof T & string)[]; base?: number | undefined } = {},
): Draft<T> {
  const { typed, changes, restart, name, ...about } = begun(form, start, base);
  const accessor = session.current.kind === 'signed-in' ? session.current.self.AccessorID : '';
  const isSecret = (key: string): boolean => secrets.includes(key as keyof T & string);
  const secretsOf = () => changes().filter(([key]) => isSecret(key));
  let isOver = false;
  $effect(() => {
    const changed = changes();
    if (isOver) return;
    const kept = {
      texts: Object.fromEntries(changed.filter(([key]) => !isSecret(key))),
      secrets: Object.fromEntries(changed.filter(([key]) => isSecret(key))),
      accessor,
      base: about.base(),
    };
    untrack(() => keptForms.keep(name, changed.length === 0 ? undefined : kept));
  });
  return {
    typed,
    get isBack() {
      return about.isBack();
    },
    get base() {
      return about.base();
    },
    get isChanged() {
      return changes().length > 0;
    },
    get hasSecret() {
      return secretsOf().length > 0;
    },
    restart,
    forget() {
      isOver = true;
      keptForms.keep(name, undefined);
    },
  };
}

function begun<T extends object>(form: string, start: T, base: number) {
  const name = `${form} in ${scope.partition}/${scope.writeNamespace}`;
  const kept = keptForms.of(name);
  const typed = $state({ ...start, ...kept?.texts, ...kept?.secrets } as T);
  let isBack = $state(kept !== undefined);
  const first = new Map(Object.entries(start).map(([key, value]) => [key, JSON.stringify(value)]));
  const changes = (): readonly (readonly [string, unknown])[] =>
    Object.entries($state.snapshot(typed) as object).filter(
      ([key, value]) => JSON.stringify(value) !== first.get(key),
    );
  return {
    name,
    typed,
    changes,
    isBack: () => isBack,
    base: () => (isBack ? (kept?.base ?? base) : base),
    restart(): void {
      Object.assign(typed, start);
      isBack = false;
    },
  };
}
