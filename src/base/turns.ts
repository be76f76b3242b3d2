/** A reason why work in slices lets turns of the event loop pass. */
export interface Hold {
  end(): void;
}

let holds = 0;

/**
 * The turns of the event loop, which all work of a thread shares. The loop accepts one connection in a turn. While several
 * arrive, work in slices would make each of them wait for a slice for every connection before it, so it lets turns pass.
 */
export const turns = {
  hold(): Hold {
    holds++;
    let isHeld = true;
    return {
      end: () => {
        if (isHeld) holds--;
        isHeld = false;
      },
    };
  },

  get areHeld(): boolean {
    return holds > 0;
  },
};
