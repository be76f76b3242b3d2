import { type ClientCommand, filterOption, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { printDeployments } from './render.ts';

export const deploymentList: ClientCommand = {
  definition: {
    options: [filterOption, verbose],
    details: `Example:
  roster deployment list -filter 'Status == "running"'`,
  },
  async run(context, _words, options) {
    const filter = options.text('filter');
    const { value } = await context.client.deployments.list({ filter });
    if (context.isJson) await context.json(value);
    else if (value.length === 0) await context.screen.line('There are no such deployments.');
    else await printDeployments(context, value);
    return exitCodes.ok;
  },
};
