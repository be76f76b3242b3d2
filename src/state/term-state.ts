import { NotLeading } from './errors.ts';
import type { State, Term } from './types.ts';

/**
 * The state for the work of a single term. After the term it is closed and takes no write, not even in a
 * later term of the same process. Reads go on.
 */
export function termState(state: State, term: Term): State {
  const isOver = () => state.leading !== term;
  return {
    clock: state.clock,
    read: () => state.read(),
    saved: () => state.saved(),
    head: () => state.head(),
    peek: (look) => state.peek(look),
    rehearse: () => state.rehearse(),
    track: () => state.track(),
    exact: () => state.exact(),
    write: (run, options) =>
      isOver()
        ? Promise.reject(new NotLeading())
        : state.write(run, { ...options, isOfTerm: true }),
    begin: (run) => {
      if (isOver()) throw new NotLeading();
      return state.begin(run);
    },
    watch: (footprint, wake) => state.watch(footprint, wake),
    draft: () => state.draft(),
    restore: (restoring) =>
      isOver() ? Promise.reject(new NotLeading()) : state.restore(restoring),
    onReplaced: (listen) => state.onReplaced(listen),
    onCommit: (listen) => state.onCommit(listen),
    onRan: (listen) => state.onRan(listen),
    onLeadership: (listen) => state.onLeadership(listen),
    get leading() {
      return isOver() ? undefined : term;
    },
    get isFull() {
      return state.isFull;
    },
    get figures() {
      return state.figures;
    },
    get closed() {
      return isOver() ? new NotLeading() : state.closed;
    },
    stepDown: (isForGood, successor) =>
      isOver() ? Promise.resolve() : state.stepDown(isForGood, successor),
    get candidate() {
      return state.candidate;
    },
    close: () => state.close(),
  };
}
