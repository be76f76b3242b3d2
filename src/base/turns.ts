let holds = 0;

/**
 * The turns of the event loop, which all work of a thread shares. The loop accepts one connection in a turn. While several
 * arrive, work in slices would make each of them wait for a slice for every connection before it, so it lets turns pass.
 */
export const turns = {
  /** Lets work in slices wait for some turns, until as many releases. */
  hold: (): void => void holds++,
  release: (): void => void holds--,

  get areHeld(): boolean {
    return holds > 0;
  },
};
