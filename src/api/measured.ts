import type { Step } from '../base/slices.ts';
import type { Steps } from '../base/steps.ts';
import type { Request } from './http.ts';

type Asked = Pick<Request, 'follower'>;

/** Work in turns, which the follower of the answer measures step by step, since other work goes in between. */
export function measuredStep(step: Step, { follower }: Asked): Step {
  return follower === undefined ? step : () => follower.measure(step);
}

export function measured<T>(steps: Steps<T>, { follower }: Asked): Steps<T> {
  return follower === undefined ? steps : inMeasure(steps, follower);
}

function* inMeasure<T>(steps: Steps<T>, follower: NonNullable<Asked['follower']>): Steps<T> {
  for (;;) {
    const { done, value } = follower.measure(() => steps.next());
    if (done) return value as T;
    yield;
  }
}
