/** Short messages about acts that have been done. A refusal stays until it is dismissed. */
import { problemOf, type ShownProblem } from './problems.ts';

export interface Toast {
  readonly id: number;
  readonly tone: 'ok' | 'bad' | 'info';
  readonly text: string;
  readonly problem: ShownProblem | undefined;
  /** A link to what was made. */
  readonly href: string | undefined;
}

const shownMs = 6000;
const toastsMax = 4;
let list = $state.raw<readonly Toast[]>([]);
let lastId = 0;

function show(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  const id = lastId;
  list = [...list, { ...toast, id }].slice(-toastsMax);
  if (toast.tone !== 'bad') setTimeout(() => toasts.dismiss(id), shownMs);
}

export const toasts = {
  get list(): readonly Toast[] {
    return list;
  },
  done: (text: string, href?: string): void => show({ tone: 'ok', text, href, problem: undefined }),
  tell: (text: string): void => show({ tone: 'info', text, href: undefined, problem: undefined }),
  /** Tells what a call threw. `text` says which act was not done. */
  failed(text: string, error: unknown): void {
    show({ tone: 'bad', text, href: undefined, problem: problemOf(error) });
  },
  /** Stays until it is dismissed. */
  warn: ({ title, ...rest }: ShownProblem): void =>
    show({ tone: 'bad', text: title, href: undefined, problem: { title, ...rest } }),
  dismiss(id: number): void {
    list = list.filter((toast) => toast.id !== id);
  },
};
