import { type ClientCommand, verbose } from '../definition.ts';
import { CliError } from '../errors.ts';
import { resolveNode } from '../nouns.ts';
import { makePlan, planOption } from '../plan/make.ts';
import { nodeArgument } from './argument.ts';

export const nodeEligibility: ClientCommand = {
  words: ['node', 'eligibility'],
  summary: 'Allow or forbid new allocations on a node.',
  definition: {
    arguments: [nodeArgument],
    options: [
      { name: 'enable', description: 'Allow new allocations on the node.' },
      { name: 'disable', description: 'Place nothing new on the node; running allocations go on.' },
      planOption,
      verbose,
    ],
  },
  async run(context, [given], options) {
    if (options.flag('enable') === options.flag('disable')) {
      throw new CliError('Say what to do: one of -enable and -disable.');
    }
    const id = await resolveNode(context, given!);
    const eligibility = options.flag('enable') ? 'eligible' : 'ineligible';
    if (options.flag('plan')) {
      return makePlan(context, { Kind: 'eligibility', NodeID: id, Eligibility: eligibility });
    }
    const { value } = await context.client.nodes.setEligibility(id, eligibility);
    return context.show(value, () =>
      context.screen.line(`Node ${context.id(id)} is ${eligibility} for scheduling.`),
    );
  },
};
