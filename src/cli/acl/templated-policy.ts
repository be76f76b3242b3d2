import { argument, type ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { oneLine } from '../render/text.ts';

const template = argument('TEMPLATE', 'Its name, such as builtin/service.');

export const templatedPolicyList: ClientCommand = {
  words: ['acl', 'templated-policy', 'list'],
  summary: 'List the templated policies.',
  definition: {},
  async run({ client, screen, isJson, json }) {
    const { value } = await client.acl.templatedPolicies.list();
    if (isJson) await json(value);
    else {
      await screen.table(
        ['Name', 'Variable', 'Description'],
        Object.values(value).map(({ TemplateName, Schema, Description }) => [
          oneLine(TemplateName),
          Schema === '' ? '-' : 'name',
          oneLine(Description),
        ]),
      );
    }
    return exitCodes.ok;
  },
};

export const templatedPolicyRead: ClientCommand = {
  words: ['acl', 'templated-policy', 'read'],
  summary: 'Show a templated policy.',
  definition: { arguments: [template] },
  async run({ client, screen, isJson, json }, [name]) {
    const { value } = await client.acl.templatedPolicies.read(name!);
    if (isJson) await json(value);
    else {
      await screen.fields([
        ['Name', oneLine(value.TemplateName)],
        ['Description', oneLine(value.Description)],
        ['Variable', value.Schema === '' ? '-' : 'name (required)'],
      ]);
      await screen.title('Template');
      await screen.line(flushLeft(value.Template));
    }
    return exitCodes.ok;
  },
};

export const templatedPolicyPreview: ClientCommand = {
  words: ['acl', 'templated-policy', 'preview'],
  summary: 'Show the rules that a templated policy grants.',
  definition: {
    arguments: [template, argument('NAME', 'Value of its variable.', 'word', false)],
    details: 'Prints the rules that a token with this templated policy would have.',
  },
  async run({ client, screen, isJson, json }, [name, variable]) {
    const { value } = await client.acl.templatedPolicies.preview(name!, variable);
    if (isJson) await json(value);
    else await screen.line(flushLeft(value.Rules));
    return exitCodes.ok;
  },
};

/** Removes a tab from the beginning of every line: the contract indents the templates by one. */
const flushLeft = (rules: string): string =>
  rules.replace(/^\t+/gm, (tabs) => '  '.repeat(tabs.length - 1)).trim();
