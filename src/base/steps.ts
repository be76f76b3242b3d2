/**
 * Long work in steps: a generator that yields wherever others may get their turn. Whoever runs it
 * decides how long it goes on at a time.
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs all the steps in one go. */
export function drained<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
