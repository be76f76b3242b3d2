import { toasts } from '../app/toasts.svelte.ts';

/** Whether the text is on the clipboard, which a page without TLS may not write. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.className = 'visually-hidden';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  const before = document.activeElement;
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isDone;
}

export async function copyAndTell(text: string, noun: string): Promise<void> {
  if (await copied(text)) toasts.tell(`Copied ${noun}`);
  else toasts.tell('The browser does not let this page copy. Select the text instead.');
}
