import type { PlanRequest } from '../../sdk/client.ts';
import type { Context } from '../context.ts';
import type { OptionDefinition } from '../definition.ts';
import { showMade } from './render.ts';

/** The option of an act that shows its plan instead. */
export const planOption: OptionDefinition = {
  name: 'plan',
  description: 'Do nothing, and show the effects as a plan that "roster plan apply" carries out.',
};

/** Plans the act, and prints the plan. */
export async function makePlan(context: Context, request: PlanRequest): Promise<number> {
  const { value } = await context.client.plans.make(request);
  return showMade(context, value);
}
