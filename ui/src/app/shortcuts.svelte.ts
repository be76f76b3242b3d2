/**
 * Keys. A shortcut is one key (`/`), a sequence (`g j`), or a key with Control (`ctrl+k`, which is Command on a Mac).
 * Keys do nothing while the reader types into a field or a dialog is open, except those with Control.
 */
import { untrack } from 'svelte';

export interface Shortcut {
  readonly keys: string;
  readonly says: string;
  readonly group: string;
  readonly run: () => void;
}

const sequenceMs = 1200;
let list = $state.raw<readonly Shortcut[]>([]);
let begun: { readonly key: string; readonly atMs: number } | undefined;

export const shortcuts = {
  get list(): readonly Shortcut[] {
    return list;
  },
};

/** For as long as the component is there. Called while it is made. */
export function shortcut(
  keys: string,
  says: string,
  run: () => void,
  group = 'On this page',
): void {
  $effect(() => {
    const end = untrack(() => addShortcut({ keys, says, run, group }));
    return () => untrack(end);
  });
}

export function addShortcut(added: Shortcut): () => void {
  list = [...list, added];
  return () => {
    list = list.filter((one) => one !== added);
  };
}

export function startShortcuts(): void {
  document.addEventListener('keydown', pressed);
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  const withControl = event.ctrlKey || event.metaKey;
  if (withControl) {
    press(event, `ctrl+${event.key.toLowerCase()}`);
    return;
  }
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
  const sequence = begun !== undefined && event.timeStamp - begun.atMs < sequenceMs;
  if (sequence && press(event, `${begun!.key} ${event.key}`)) {
    begun = undefined;
    return;
  }
  if (press(event, event.key)) return;
  const begins = list.some(({ keys }) => keys.startsWith(`${event.key} `));
  begun = begins ? { key: event.key, atMs: event.timeStamp } : undefined;
}

function press(event: KeyboardEvent, keys: string): boolean {
  // The page's own shortcut comes after those of the shell, and goes before them.
  const found = list.findLast((one) => one.keys === keys);
  if (found === undefined) return false;
  event.preventDefault();
  found.run();
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
