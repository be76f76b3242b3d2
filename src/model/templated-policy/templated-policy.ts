import { type Model, Text, Type } from '../schema.ts';

/** A policy with a placeholder for a name. Source: docs/contract/access-control.md#templated-policies. */
export const TemplatedPolicySchema = Type.Object({
  TemplateName: Text(),
  /** JSON schema of the variables, as text; empty if there are none. */
  Schema: Text(),
  Template: Text(),
  Description: Text(),
});
export type TemplatedPolicy = Model<typeof TemplatedPolicySchema>;

export interface BuiltinTemplate extends TemplatedPolicy {
  readonly TemplateID: string;
}

const nameSchema = `{
	"type": "object",
	"properties": {
		"name": { "type": "string", "$ref": "#/definitions/min-length-one" }
	},
	"required": ["name"],
	"definitions": {
		"min-length-one": {
			"type": "string",
			"minLength": 1
		}
	}
}`;

type Line = readonly [head: string, access: 'read' | 'write'];

const block = ([head, access]: Line): string => `\n\t${head} {\n\t\tpolicy = "${access}"\n\t}`;
const rules = (...lines: readonly Line[]): string => `${lines.map(block).join('')}\n`;

const readServices: Line = ['service_prefix ""', 'read'];
const readNodes: Line = ['node_prefix ""', 'read'];
const readAgents: Line = ['agent_prefix ""', 'read'];
const writeServices: Line = ['service_prefix ""', 'write'];

interface TemplateFields {
  readonly number: number;
  readonly name: string;
  /** Whether the template has a placeholder for a name. */
  readonly isNamed: boolean;
  readonly description: string;
  readonly text: string;
}

const template = ({
  number,
  name,
  isNamed,
  description,
  text,
}: TemplateFields): BuiltinTemplate => ({
  TemplateID: `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`,
  TemplateName: `builtin/${name}`,
  Schema: isNamed ? nameSchema : '',
  Template: text,
  Description: description,
});

/** Source: docs/behaviour/access-control.md#builtin-templates. */
export const builtinTemplates: readonly BuiltinTemplate[] = [
  template({
    number: 3,
    name: 'service',
    isNamed: true,
    description: 'Gives the token the permissions that a service and its proxy need.',
    text: rules(
      ['service "{{.Name}}"', 'write'],
      ['service "{{.Name}}-sidecar-proxy"', 'write'],
      readServices,
      readNodes,
    ),
  }),
  template({
    number: 4,
    name: 'node',
    isNamed: true,
    description: 'Gives the token the permissions that a node needs.',
    text: rules(['node "{{.Name}}"', 'write'], readServices),
  }),
  template({
    number: 5,
    name: 'dns',
    isNamed: false,
    description: 'Gives the token what answering name queries needs.',
    text: rules(readNodes, readServices, ['query_prefix ""', 'read']),
  }),
  template({
    number: 6,
    name: 'scheduler-server',
    isNamed: false,
    description: 'Gives the token the permissions that a server of the scheduler needs.',
    text: `\n\tacl = "write"${rules(readAgents, readNodes, writeServices)}`,
  }),
  template({
    number: 7,
    name: 'workload-identity',
    isNamed: true,
    description: 'Gives the token the permissions of a workload under its own name.',
    text: rules(['identity "{{.Name}}"', 'write']),
  }),
  template({
    number: 8,
    name: 'api-gateway',
    isNamed: true,
    description: 'Gives the token the permissions that an API gateway needs.',
    text: `\n\tmesh = "read"${rules(readNodes, readServices, ['service "{{.Name}}"', 'write'])}`,
  }),
  template({
    number: 9,
    name: 'scheduler-client',
    isNamed: false,
    description: 'Gives the token the permissions that a client of the scheduler needs.',
    text: rules(readAgents, readNodes, writeServices),
  }),
];

const byName = new Map(builtinTemplates.map((one) => [one.TemplateName, one]));

export const templateNamed = (name: string): BuiltinTemplate | undefined => byName.get(name);

export const takesName = ({ Schema }: Pick<TemplatedPolicy, 'Schema'>): boolean => Schema !== '';

/** `name` is the name of an identity, so nothing in it can end the quoted text around it. */
export const renderTemplate = ({ Template }: Pick<TemplatedPolicy, 'Template'>, name: string) =>
  Template.replaceAll('{{.Name}}', () => name);

export const presentedTemplate = ({ TemplateID: _, ...shown }: BuiltinTemplate): TemplatedPolicy =>
  shown;
