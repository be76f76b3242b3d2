import { toasts } from '../app/toasts.svelte.ts';
import type { Fate, Submission } from '../live/submission.ts';

/** Ends the calls of a form that was left, and tells what became of them. */
export async function cancelSubmission(title: string, submission: Submission): Promise<void> {
  const fate = submission.cancel();
  await Promise.race([fate, new Promise((resolve) => setTimeout(resolve, momentMs))]);
  if (submission.isAwaited) {
    toasts.tell(`Cancelled "${title}". The server has the request already: its answer is awaited.`);
  }
  const told = await fate;
  if (told !== 'finished') tell[told](title);
}

/** Not in limits: a fate that is known within a moment is told alone. */
const momentMs = 200;

const tell: Readonly<Record<Exclude<Fate, 'finished'>, (title: string) => void>> = {
  none: (title) => toasts.tell(`Cancelled "${title}": nothing was changed.`),
  done: (title) => toasts.done(`"${title}" was sent before you cancelled it, and is done.`),
  partly: (title) =>
    toasts.warn({
      title: `"${title}" is done in part`,
      detail: 'A part of it was done before you cancelled it.',
    }),
  unknown: (title) =>
    toasts.warn({
      title: `Nobody knows whether "${title}" was done`,
      detail: 'It was sent before you cancelled it. Look before you repeat it.',
    }),
};
