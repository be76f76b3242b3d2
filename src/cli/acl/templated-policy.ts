import { argument, type ClientCommand } from '../definition.ts';
import { printRecords } from '../list-command.ts';
import { oneLine } from '../render/text.ts';

const template = argument('TEMPLATE', 'Its name, such as builtin/service.');

export const templatedPolicyList: ClientCommand = {
  words: ['acl', 'templated-policy', 'list'],
  summary: 'List the templated policies.',
  definition: { isPaged: true },
  async run(context) {
    const { value } = await context.client.acl.templatedPolicies.list();
    return printRecords(context, value, {
      records: Object.values(value),
      columns: {
        Name: ({ TemplateName }) => oneLine(TemplateName),
        Variable: ({ Schema }) => (Schema === '' ? '-' : 'name'),
        Description: ({ Description }) => oneLine(Description),
      },
    });
  },
};

export const templatedPolicyRead: ClientCommand = {
  words: ['acl', 'templated-policy', 'read'],
  summary: 'Show a templated policy.',
  definition: { isPaged: true, arguments: [template] },
  async run({ client, screen, show }, [name]) {
    const { value } = await client.acl.templatedPolicies.read(name!);
    return show(value, async () => {
      await screen.fields([
        ['Name', oneLine(value.TemplateName)],
        ['Description', oneLine(value.Description)],
        ['Variable', value.Schema === '' ? '-' : 'name (required)'],
      ]);
      await screen.title('Template');
      await screen.line(flushLeft(value.Template));
    });
  },
};

export const templatedPolicyPreview: ClientCommand = {
  words: ['acl', 'templated-policy', 'preview'],
  summary: 'Show the rules that a templated policy grants.',
  definition: {
    isPaged: true,
    arguments: [template, argument('NAME', 'Value of its variable.', 'word', false)],
    details: 'Prints the rules that a token with this templated policy would have.',
  },
  async run({ client, screen, show }, [name, variable]) {
    const { value } = await client.acl.templatedPolicies.preview(name!, variable);
    return show(value, () => screen.line(flushLeft(value.Rules)));
  },
};

/** Removes a tab from the beginning of every line: the contract indents the templates by one. */
const flushLeft = (rules: string): string =>
  rules.replace(/^\t+/gm, (tabs) => '  '.repeat(tabs.length - 1)).trim();
