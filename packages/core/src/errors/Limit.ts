/** How a limit of a budget is named to people and to models. */
const nouns = {
  maxTurns: "turns",
  maxToolCalls: "tool calls",
  maxDuration: "milliseconds",
  maxTokens: "tokens",
  maxCost: "cost",
  maxConsecutiveSameTool: "calls of one tool in a row",
  maxDepth: "nested agents",
  repeatedFailure: "equal failures in a row",
  toolsOff: "calls with tools switched off"
}

/** `its limit of 2 turns` */
export const limitOf = ({ limit, reason }: { readonly limit: number; readonly reason: keyof typeof nouns }): string =>
  `its limit of ${limit} ${nouns[reason]}`
