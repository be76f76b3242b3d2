export const bindingRuleLimits = { selectorLengthMax: 4096, bindNameLengthMax: 512 } as const;
